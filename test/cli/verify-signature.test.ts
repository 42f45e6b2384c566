import { copyFileSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runCliInProcess } from '../helpers/command-in-process.js'
import { FaultServer } from '../helpers/fault-server.js'
import { describeWithC2pa } from '../helpers/read-by-stranger.js'
import { makeAuthority, type TestAuthority } from '../helpers/signing-authority.js'
import { type CliResult, eventsOf, runCli } from '../helpers/voxmux-cli.js'
import { openWorkshop, type Workshop } from '../helpers/workshop.js'

describeWithC2pa('voxmux verify of Content Credentials', () => {
  let workshop: Workshop
  let authority: TestAuthority
  let made: CliResult
  let secret: string
  let output: string

  beforeAll(async () => {
    workshop = openWorkshop()
    authority = makeAuthority(workshop.dir)
    const credentials = authority.sign('editor')
    secret = readFileSync(credentials.key, 'utf8').split('\n')[1] ?? ''
    const config = workshop.path('signing.json')
    writeFileSync(config, JSON.stringify({ credentials }))
    const server = await FaultServer.start()
    const env = { ...workshop.env, ...server.env }
    const inputs = [workshop.take('phone.mp4'), workshop.take('gap.mkv')]
    made = await runCli(['run', ...inputs, '--config', config, '--json'], { cwd: workshop.dir, env })
    await server.close()
    expect(made.exitCode, made.stderr).toBe(0)
    output = workshop.path('phone.regen.mp4')
  })
  afterAll(() => workshop.remove())

  /** Runs `voxmux verify` with nothing configured, without a start of its own. */
  async function verify(...args: string[]) {
    const result = await runCliInProcess(['verify', ...args, '--json'], { cwd: workshop.dir, env: workshop.env })
    return { ...result, file: eventsOf(result).find(({ event }) => event === 'file') }
  }

  it('proves a file by its receipt, a trusted signature in or beside it, and the packets of its input', async () => {
    for (const [path, input] of [
      [output, 'phone.mp4'],
      [workshop.path('gap.regen.mkv'), 'gap.mkv'],
    ] as const) {
      const { exitCode, file } = await verify(path, '--trust', authority.trustFile, '--input', workshop.path(input))
      expect(exitCode, JSON.stringify(file)).toBe(0)
      expect(file).toMatchObject({
        proof: {
          ...{ isUnchanged: true, input: { state: 'same' }, kept: [{ kind: 'video', packets: 'same' }] },
          signature: { state: 'trusted', signer: 'editor, Test archive', failures: [] },
        },
      })
    }
  })

  it('proves a file by its signature alone, and says what it could not know', async () => {
    const path = workshop.path('sent.mp4')
    copyFileSync(output, path)
    const { exitCode, file } = await verify(path, '--input', workshop.path('phone.mp4'))
    expect(exitCode).toBe(0)
    expect(file).toMatchObject({ receipt: null, proof: { signature: { state: 'valid', isInputSame: true } } })
    expect(JSON.stringify(file)).toMatch(/There is no receipt.*without --trust/)
    const other = await verify(path, '--input', workshop.path('gap.mkv'))
    expect([other.exitCode, other.file?.error]).toMatchObject([7, { code: 'ERR_INPUT_DIFFERS' }])
  })

  it('finds a changed byte by the signature alone, and a signer who is not trusted', async () => {
    const path = workshop.path('changed.mp4')
    const bytes = readFileSync(output)
    const at = Math.round(bytes.length * 0.8)
    bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at)
    writeFileSync(path, bytes)
    const changed = await verify(path)
    expect([changed.exitCode, changed.file?.error]).toMatchObject([7, { code: 'ERR_SIGNATURE_INVALID' }])
    // A broken signature has no signer to judge.
    expect(changed.file?.proof).toMatchObject({ unknown: [expect.stringContaining('There is no receipt')] })
    const stranger = join(dirname(workshop.dir), 'tmp')
    const { trustFile } = makeAuthority(stranger)
    const untrusted = await verify(output, '--trust', trustFile)
    expect([untrusted.exitCode, untrusted.file?.error]).toMatchObject([7, { code: 'ERR_SIGNATURE_UNTRUSTED' }])
    const unsigned = await verify(workshop.path('phone.mp4'), '--trust', trustFile)
    expect(unsigned.file?.error).toMatchObject({ code: 'ERR_SIGNATURE_MISSING' })
    const wrong = await verify(output, '--trust', output)
    expect([wrong.exitCode, wrong.file?.error]).toMatchObject([2, { code: 'ERR_TRUST_LIST' }])
  })

  it('finds a sidecar of another file', async () => {
    const [sidecar, kept] = [workshop.path('gap.regen.mkv.c2pa'), workshop.path('kept.c2pa')]
    renameSync(sidecar, kept)
    const path = workshop.path('phone.mp4')
    copyFileSync(kept, `${path}.c2pa`)
    expect((await verify(path)).file?.error).toMatchObject({ code: 'ERR_SIGNATURE_INVALID' })
    const without = await verify(workshop.path('gap.regen.mkv'))
    expect(without.exitCode).toBe(0)
    expect(JSON.stringify(without.file)).toContain('that the receipt names are not there')
    renameSync(kept, sidecar)
  })

  it('has left nothing of the key in output, messages, receipts or state', () => {
    const files = readdirSync(dirname(workshop.dir), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.name.endsWith('.key'))
      .map((entry) => join(entry.parentPath, entry.name))
    expect(files.length).toBeGreaterThan(8)
    expect(files.filter((path) => readFileSync(path).includes(secret))).toEqual([])
    expect(`${made.stdout}${made.stderr}`).not.toContain(secret)
  })
})
