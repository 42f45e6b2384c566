import { spawnSync } from 'node:child_process'
import {
  existsSync,
  linkSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { VoiceCache } from '../../src/ledger/index.js'
import { partName } from '../../src/ledger/voices/part-files.js'
import { joinedProgram } from '../helpers/system/joined-program.js'
import { NO_STRACE } from '../helpers/system/system-calls.js'
import { runScript } from './run-script.js'
import { tempFolder } from './temp-folder.js'

function made(maxBytes = 1_000_000) {
  const base = tempFolder()
  const folder = join(base, 'cache')
  const file = (name: string, content: string) => {
    const path = join(base, name)
    writeFileSync(path, content)
    return path
  }
  return { base, folder, file, cache: new VoiceCache(folder, { maxBytes }) }
}

/** Bytes of all files in a folder. */
const bytesIn = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0)

/** As if it was used that long ago. */
const age = (path: string, minutes: number) => utimesSync(path, 0, Date.now() / 1000 - minutes * 60)

it.skipIf(!existsSync('/proc/self'))(
  'says that its folder cannot be made, also if Node would try for ever',
  async () => {
    await expect(new VoiceCache('/proc/voxmux/cache', { maxBytes: 1 }).get('voice-1')).rejects.toMatchObject({
      input: '/proc/voxmux/cache',
    })
  },
)

it('finds what was put, by key', async () => {
  const { cache, file, folder } = made()
  const kept = await cache.put('voice-1', file('a.FLAC', 'regenerated'))
  expect(kept.path).toMatch(/\.flac$/)
  expect(await cache.get('voice-1')).toEqual(kept)
  expect(kept).toMatchObject({ sizeBytes: 11, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) })
  expect(readFileSync(kept.path, 'utf8')).toBe('regenerated')
  expect(await cache.get('voice-2')).toBeNull()
  expect(readdirSync(folder)).toHaveLength(1)
})

it.skipIf(process.platform === 'win32')(
  'is a folder of the owner alone (not on Windows, which has no modes)',
  async () => {
    const { cache, file, folder } = made()
    const kept = await cache.put('voice-1', file('a.flac', 'regenerated'))
    expect([folder, kept.path].map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o600])
  },
)

it('keeps the latest answer for a key, and the same answer once', async () => {
  const { cache, file, folder } = made()
  await cache.put('k', file('a.flac', 'first'))
  await cache.put('k', file('b.flac', 'second'))
  const again = await cache.put('k', file('c.flac', 'second'))
  expect(await cache.get('k')).toEqual(again)
  expect(bytesIn(folder)).toBe(6)
})

it.each([
  ['cut off', (path: string) => truncateSync(path, 3)],
  ['changed', (path: string) => writeFileSync(path, 'regenerateD')],
])('does not give out a file that was %s, and throws it away', async (_how, harm) => {
  const { cache, file } = made()
  const { path } = await cache.put('k', file('a.flac', 'regenerated'))
  harm(path)
  expect(await cache.get('k')).toBeNull()
  expect(existsSync(path)).toBe(false)
})

it('throws out what was unused for longest, and what was just used last', async () => {
  const { cache, file, folder } = made(27)
  for (const [n, key] of ['a', 'b', 'c'].entries()) {
    const { path } = await cache.put(key, file(`${key}.wav`, `${key}`.repeat(8)))
    age(path, 60 - n)
  }
  expect(await cache.get('a')).not.toBeNull()
  await cache.put('d', file('d.wav', 'dddddddd'))
  expect(await cache.get('b')).toBeNull()
  for (const key of ['a', 'c', 'd']) expect(await cache.get(key)).not.toBeNull()
  await cache.put('big', file('big.wav', 'x'.repeat(100)))
  expect(await cache.get('big')).not.toBeNull()
  expect(bytesIn(folder)).toBe(100)
})

it('keeps the voice that is stored last, even while another one makes room', async () => {
  const keys = ['a1', 'b1', 'c1', 'd1']
  for (let round = 0; round < 20; round += 1) {
    const { cache, file } = made(15)
    const ended: string[] = []
    const puts = keys.map(async (key) => ended.push((await cache.put(key, file(key, key.repeat(5)))).path))
    await Promise.all(puts)
    expect(existsSync(ended.at(-1) as string), `round ${round}`).toBe(true)
  }
})

it('makes room for the next ones too, whichever process filled it', async () => {
  const { cache, file, folder } = made(400)
  const other = new VoiceCache(folder, { maxBytes: 400 })
  for (let n = 0; n < 60; n += 1) {
    const { path } = await (n % 2 ? cache : other).put(`k${n}`, file(`${n}.wav`, 'x'.repeat(10)))
    age(path, 60 - n)
    // Two that each fill a quarter of the room that they found.
    expect(bytesIn(folder)).toBeLessThanOrEqual(600)
  }
  expect(await cache.get('k59')).not.toBeNull()
  expect(await cache.get('k0')).toBeNull()
})

it('gives a link of its own to work with, which outlives the cached file', async () => {
  const { cache, file, base } = made()
  await cache.put('k', file('a.flac', 'regenerated'))
  const target = join(base, 'work.flac')
  expect(await cache.take('k', target)).toMatchObject({ path: target })
  await cache.forget('k')
  expect(await cache.get('k')).toBeNull()
  expect(readFileSync(target, 'utf8')).toBe('regenerated')
  expect(await cache.take('k', join(base, 'other'))).toBeNull()
})

it('clears the parts of dead processes and of nobody else', async () => {
  const { cache, file, folder, base } = made()
  await cache.put('k', file('a.flac', 'x'))
  const dead = await runScript('process.stdout.write(JSON.stringify(process.pid))')
  const mine = join(folder, partName())
  const parts = [mine, mine.replace(`-${process.pid}-`, `-${dead}-`), join(folder, 'somebody.txt')]
  for (const part of parts) linkSync(join(base, 'a.flac'), part)
  await new VoiceCache(folder, { maxBytes: 10 }).get('k')
  expect(parts.map((part) => existsSync(part))).toEqual([true, false, true])
})

it('says which file is missing', async () => {
  const { cache, base } = made()
  await expect(cache.put('k', join(base, 'none.flac'))).rejects.toMatchObject({
    message: expect.stringContaining('none'),
  })
  await expect(cache.put('../k', join(base, 'none.flac'))).rejects.toThrow()
})

it.skipIf(NO_STRACE)('keeps and finds audio on a share that lets no times be set', async () => {
  const { folder, file } = made()
  const script = file(
    'put.mjs',
    `import { VoiceCache } from '${joinedProgram(fileURLToPath(new URL('../../src/ledger/index.ts', import.meta.url)))}'
const cache = new VoiceCache(process.argv[2], { maxBytes: 1e6 })
await cache.put('voice-1', process.argv[3])
console.log((await cache.get('voice-1'))?.sizeBytes)`,
  )
  const refusing = ['-f', '-o', '/dev/null', '-e', 'trace=utimensat', '-e', 'inject=utimensat:error=EPERM']
  const args = [...refusing, process.execPath, script, folder, file('a.flac', 'regenerated')]
  const { stdout, stderr } = spawnSync('strace', args, { encoding: 'utf8' })
  expect([stdout, stderr]).toEqual(['11\n', ''])
})
