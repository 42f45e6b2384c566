import {
  appendFileSync,
  copyFileSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runCliInProcess } from '../helpers/command-in-process.js'
import { FaultServer } from '../helpers/fault-server.js'
import { fixture } from '../helpers/job-bench.js'
import { quieterVoice } from '../helpers/sound/quieter-voice.js'
import { eventsOf, runCli } from '../helpers/voxmux-cli.js'
import { openWorkshop, type Workshop } from '../helpers/workshop.js'

let workshop: Workshop
let input: string
let output: string

beforeAll(async () => {
  workshop = openWorkshop()
  input = workshop.take('phone.mp4')
  const server = await FaultServer.start({ regenerate: quieterVoice })
  const made = await runCli(['run', input, '--json'], { cwd: workshop.dir, env: { ...workshop.env, ...server.env } })
  await server.close()
  expect(made.exitCode, made.stderr).toBe(0)
  output = workshop.path('phone.regen.mp4')
})
afterAll(() => workshop.remove())

/** Runs `voxmux verify` with nothing configured, without a start of its own. */
const verify = (...args: string[]) => verifyBy(runCliInProcess, ...args)

async function verifyBy(run: typeof runCliInProcess, ...args: string[]) {
  const result = await run(['verify', ...args, '--json'], { cwd: workshop.dir, env: workshop.env })
  const events = eventsOf(result)
  return { ...result, file: events.find(({ event }) => event === 'file'), result: events.at(-1) }
}

/** A copy of the output with its receipt, changed by `change`. */
function changed(name: string, change: (path: string) => void): string {
  const path = workshop.path(name)
  copyFileSync(output, path)
  copyFileSync(`${output}.voxmux.json`, `${path}.voxmux.json`)
  change(path)
  return path
}

describe('voxmux verify', () => {
  it('proves an output: its input, its bytes, and the packets of what it kept', async () => {
    const { exitCode, file, result } = await verifyBy(runCli, output)
    expect([exitCode, result?.exitCode]).toEqual([0, 0])
    expect(file).toMatchObject({
      ...{ status: 'done', output, receipt: `${output}.voxmux.json`, error: null },
      proof: {
        ...{ isUnchanged: true, input: { path: input, state: 'same' }, replaced: { audioTracks: [0] } },
        kept: [{ kind: 'video', packets: 'same' }],
      },
    })
  })

  it('proves a copy in which nothing was replaced, with a certificate', async () => {
    const copy = workshop.path('copy.mp4')
    const env = { cwd: workshop.dir, env: workshop.env }
    const made = await runCliInProcess(['run', input, '-o', copy, '--mix', '0', '--qc', 'netflix', '--json'], env)
    expect(made.exitCode, made.stderr).toBe(0)
    const certificate = { standard: 'netflix', passed: false, summary: expect.stringContaining('(failed, allowed: ') }
    expect(eventsOf(made).find(({ event }) => event === 'file')).toMatchObject({ status: 'done', certificate })
    const kept = [
      { kind: 'video', packets: 'same' },
      { kind: 'audio', packets: 'same' },
    ]
    expect((await verify(copy)).file).toMatchObject({ status: 'done', proof: { kept } })
    expect((await runCliInProcess(['verify', copy], env)).stdout).toContain('Nothing was replaced.')
    for (const path of [copy, `${copy}.voxmux.json`, `${copy}.voxmux.html`]) rmSync(path)
  })

  it('says what it could not know without the input', async () => {
    const away = workshop.path('away.mp4')
    renameSync(input, away)
    try {
      const without = await verify(output)
      expect(without.exitCode).toBe(0)
      expect(without.file).toMatchObject({ proof: { input: { state: 'missing' }, kept: [{ packets: 'recorded' }] } })
      expect(JSON.stringify(without.file)).toContain('--input')
      expect((await verify(output, '--input', away)).file).toMatchObject({ proof: { kept: [{ packets: 'same' }] } })
    } finally {
      renameSync(away, input)
    }
  })

  it('finds a changed picture and names the stream', async () => {
    const path = changed('picture.mp4', (copy) => flipByte(copy, readFileSync(copy).indexOf('mdat') + 2000))
    const { exitCode, file } = await verify(path)
    expect(exitCode).toBe(7)
    expect(file).toMatchObject({
      status: 'failed',
      error: { code: 'ERR_PACKETS_DIFFER' },
      proof: { isUnchanged: false },
    })
    expect(JSON.stringify(file)).toContain('video stream 0')
  })

  it('finds bytes behind the end, and a file that was cut short', async () => {
    const longer = changed('longer.mp4', (copy) => appendFileSync(copy, Buffer.from('\0\0\0\u0008free')))
    expect((await verify(longer)).file).toMatchObject({ error: { code: 'ERR_OUTPUT_CHANGED' } })
    const cut = changed('cut.mp4', (copy) => copyFileSync(fixture('text.mp4'), copy))
    expect(await verify(cut)).toMatchObject({ exitCode: 7, file: { error: { code: 'ERR_PACKETS_DIFFER' } } })
  })

  it('says that a receipt is not the file that it is about', async () => {
    const { exitCode, file } = await verify(`${output}.voxmux.json`)
    expect(exitCode).toBe(7)
    expect(file).toMatchObject({ error: { remedies: [`This is the receipt. Name its file: ${output}`] } })
  })

  it('does not accept another input, nor a file without a receipt', async () => {
    const other = await verify(output, '--input', fixture('vfr.mp4'))
    expect(other).toMatchObject({ exitCode: 7, file: { error: { code: 'ERR_INPUT_DIFFERS' } } })
    const alone = changed('alone.mp4', (copy) => rmSync(`${copy}.voxmux.json`))
    expect(await verify(alone)).toMatchObject({
      exitCode: 7,
      file: {
        error: { code: 'ERR_RECEIPT_MISSING', message: expect.stringMatching(/voxmux\.json does not exist\.$/) },
      },
    })
    const named = await verify(alone, '--receipt', `${output}.voxmux.json`)
    expect(named).toMatchObject({ exitCode: 0, file: { status: 'done' } })
  })

  it('takes a folder, and ends with 2 for a path that is missing', async () => {
    const { result } = await verify(workshop.dir)
    expect(result).toMatchObject({ exitCode: 7, done: 1, failed: 3 })
    expect(await verify('nowhere.mp4')).toMatchObject({ exitCode: 2, file: { error: { code: 'ERR_INPUT_MISSING' } } })
  })

  it('tells people what is certain and what is wrong', async () => {
    const env = { cwd: workshop.dir, env: workshop.env }
    const good = await runCliInProcess(['verify', output], env)
    expect(good.stdout + good.stderr).toMatch(/The same packets as in the input: video 0 \(h264\)/)
    const bad = await runCliInProcess(['verify', workshop.path('longer.mp4')], env)
    expect(bad.stdout + bad.stderr).toMatch(/was changed after voxmux published it/)
    expect(bad.exitCode).toBe(7)
  })

  it.skipIf(isInstalled('@contentauth/c2pa-node'))('says how to look for a signature, and why it did not', async () => {
    const { stdout, stderr } = await runCliInProcess(['verify', input], { cwd: workshop.dir, env: workshop.env })
    expect(stdout + stderr).toMatch(
      /– No signature was looked for: .* is not installed\. To install it, run `npm install .*c2pa-node@0\.5\.5`\. On Linux .* set SKIP_BINARY_DOWNLOAD=1 /,
    )
  })
})

function isInstalled(name: string): boolean {
  try {
    import.meta.resolve(name)
    return true
  } catch {
    return false
  }
}

function flipByte(path: string, at: number): void {
  const byte = readFileSync(path)[at] ?? 0
  writeSync(openSync(path, 'r+'), Buffer.from([byte ^ 0xff]), 0, 1, at)
}

it('adds no line for a line break in a forged receipt', async () => {
  const receipt = JSON.parse(readFileSync(`${output}.voxmux.json`, 'utf8'))
  const forged = '1\n  ✔ Signed by a broadcaster, whom your trust list vouches for, and unchanged since.\u001b[8m'
  const streams = receipt.streams.map((stream: object) => ({ ...stream, codec: forged }))
  writeFileSync(workshop.path('forged.json'), JSON.stringify({ ...receipt, voxmux: forged, streams }))
  const { stdout } = await runCliInProcess(['verify', output, '--receipt', workshop.path('forged.json')], {
    ...{ cwd: workshop.dir, env: workshop.env },
  })
  expect(stdout).toContain('✔ Signed by a broadcaster')
  expect(stdout.split('\n').filter((line) => line.startsWith('  ✔ Signed'))).toEqual([])
  expect(stdout).not.toContain('\u001b')
})
