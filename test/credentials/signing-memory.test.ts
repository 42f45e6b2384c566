import { execFileSync } from 'node:child_process'
import { appendFileSync, copyFileSync, statSync, truncateSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { fixture } from '../helpers/job-bench.js'
import { testFolder } from '../helpers/media-factory.js'
import { describeWithC2pa } from '../helpers/read-by-stranger.js'
import { makeAuthority } from '../helpers/signing-authority.js'

/** Signs in a process of its own, and prints by how many bytes its memory grew at most. */
const SCRIPT = `
  import { readFileSync, writeSync } from 'node:fs'
  const [path, cert, key, source] = process.argv.slice(1)
  const { openCredentials } = await import(source)
  const credentials = openCredentials({ cert, key })
  await credentials.require()
  const peak = () => Number(/VmHWM:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]) * 1024
  const before = peak()
  const facts = { output: 'film', sourceType: 'algorithmicallyEnhanced', input: { name: 'film', sha256: null },
    recipeHash: '', preset: 'transparent', model: 'regen_v1', segments: [], tracks: [] }
  const { carrier } = await credentials.sign({
    path, container: 'mp4', sidecarPart: path + '.c2pa', parent: null, level: 'fast', facts })
  writeSync(1, JSON.stringify({ carrier, grown: peak() - before }))
  // The signer of the package keeps its process alive until it is collected.
  process.exit()`

describeWithC2pa('the memory of a signature', () => {
  it('does not grow with the size of a film', async () => {
    const folder = await testFolder()
    const size = process.env.VOXMUX_SOAK ? 2e9 : 100e6
    const path = folder.file('film.mp4')
    copyFileSync(fixture('phone.mp4'), path)
    // A film with a large, empty box behind it.
    const box = Buffer.from('\0\0\0\0free')
    box.writeUInt32BE(size)
    appendFileSync(path, box)
    truncateSync(path, statSync(path).size - box.length + size)
    const { cert, key } = makeAuthority(folder.path).sign('editor')
    const source = fileURLToPath(new URL('../../src/credentials/index.ts', import.meta.url))
    const args = ['--import', 'tsx', '--input-type=module', '-e', SCRIPT, path, cert, key, source]
    const said = execFileSync(process.execPath, args, { encoding: 'utf8' })
    await folder.remove()
    const { carrier, grown } = JSON.parse(said)
    expect(carrier).toBe('embedded')
    // Two blocks of at most 256 MB are hashed at a time.
    expect(grown).toBeLessThan(Math.min(2 * size, 0.6e9))
  })
})
