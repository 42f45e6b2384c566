import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { receiptSchema } from '../../../src/pipeline/output/receipt.js'
import { fixture } from '../../helpers/job-bench.js'
import { ffmpeg } from '../../helpers/media-factory.js'
import { until } from '../../helpers/until.js'
import { eventsOf } from '../../helpers/voxmux-cli.js'
import { filesBelow, sha256Of, watchBench } from './watch-bench.js'

const bench = watchBench()

const starts = () => bench.server.calls.startProcess
const isPublished = (name: string) => existsSync(bench.file(`out/${name}.voxmux.json`))
const published = (name: string) => until(() => isPublished(name))
const receiptOf = (name: string) =>
  receiptSchema.parse(JSON.parse(readFileSync(bench.file(`out/${name}.voxmux.json`), 'utf8')))

function drop(fixtureName: string, as: string): string {
  mkdirSync(dirname(bench.file(as)), { recursive: true })
  copyFileSync(fixture(fixtureName), bench.file(as))
  return bench.file(as)
}

/** Longer than the settle time, so that what is taken too early is taken. */
const longerThanSettling = () => sleep(1200)

/** Starts of the daemon and jobs, on a machine that has other tests to run. */
const LONG_MS = 240_000

describe('voxmux watch', { timeout: LONG_MS }, () => {
  it('publishes what is dropped under its name and folder, tells it, and ends with SIGTERM', async () => {
    const daemon = bench.watch()
    await daemon.until(/"event":"watching"/)
    const source = drop('speech.wav', 'day 1/-take 🎬.wav')
    const before = sha256Of(source)
    await published('day 1/-take 🎬.wav')
    await daemon.until(/"event":"file"/)
    daemon.child.kill('SIGTERM')
    const result = await daemon.ended
    expect(result.exitCode, result.stderr).toBe(0)
    const events = eventsOf(result)
    expect(events.map(({ event }) => event)).toEqual(['watching', 'file', 'result'])
    expect(events[0]).toMatchObject({
      folders: [{ path: bench.workshop.path('in'), preset: 'transparent' }],
      url: null,
    })
    expect(events[1]).toMatchObject({ status: 'done', input: source, output: bench.file('out/day 1/-take 🎬.wav') })
    expect(events[2]).toMatchObject({ exitCode: 0, done: 1 })
    expect(sha256Of(source)).toBe(before)
    const id = String(events[1]?.id)
    const steps = result.stderr.split('\n').filter((line) => line.includes(id))
    expect(steps.map((line) => JSON.parse(line).msg)).toEqual(
      expect.arrayContaining(['queued', 'job begins', 'job ended']),
    )
  })

  it('waits for a file that grows, and for one whose size is reserved and that is filled slowly', async () => {
    bench.watch()
    const bytes = readFileSync(fixture('timecode.mov'))
    const growing = await open(bench.file('growing.mov'), 'w')
    const reserved = bench.file('reserved.mov')
    execFileSync('fallocate', ['-l', String(bytes.length), reserved])
    const filled = await open(reserved, 'r+')
    for (let part = 0; part < 4; part++) {
      const [from, to] = [part, part + 1].map((end) => Math.floor((bytes.length * end) / 4)) as [number, number]
      await growing.write(bytes, from, to - from, from)
      await filled.write(bytes, from, to - from, from)
      // Each stands still for longer than it takes to settle.
      await longerThanSettling()
      expect(starts()).toBe(0)
    }
    // Whole, but still open for writing.
    await growing.close()
    await filled.close()
    await published('growing.mov')
    await published('reserved.mov')
    for (const name of ['growing.mov', 'reserved.mov'])
      expect(receiptOf(name).input.sha256).toBe(sha256Of(fixture('timecode.mov')))
    expect(starts()).toBe(1)
  })

  it('judges a file anew whose last byte came while it was judged', async () => {
    const whole = bench.workshop.path('whole.mov')
    copyFileSync(fixture('timecode.mov'), whole)
    const real = process.env.VOXMUX_FFPROBE ?? execFileSync('which', ['ffprobe'], { encoding: 'utf8' }).trim()
    // Reads a half file, and answers that once the other half is there and was heard of.
    const slow = bench.workshop.path('slow-ffprobe')
    const answered = bench.workshop.path('answered')
    const rest = `[ -e "${answered}" ] || { : > "${answered}"; cat "${whole}" > "${bench.file('late.mov')}"; sleep 1; }`
    writeFileSync(slow, `#!/bin/sh\n"${real}" "$@"; code=$?\ncase "$*" in *late.mov*) ${rest};; esac\nexit $code\n`)
    chmodSync(slow, 0o755)
    const daemon = bench.watchThrough(['env', `VOXMUX_FFPROBE=${slow}`], '--patience', '3600')
    await daemon.until(/"event":"watching"/)
    writeFileSync(bench.file('late.mov'), readFileSync(whole).subarray(0, 300_000))
    await published('late.mov')
    expect(existsSync(answered)).toBe(true)
    expect(receiptOf('late.mov').input.sha256).toBe(sha256Of(whole))
  })

  it('makes a new job of a newer version, and none of a touch, a rename or a restart', async () => {
    const first = bench.watch()
    const source = drop('speech.wav', 'a.wav')
    await published('a.wav')
    utimesSync(source, new Date(), new Date())
    renameSync(source, bench.file('b.wav'))
    await longerThanSettling()
    first.child.kill('SIGTERM')
    await first.ended
    const second = bench.watch()
    await second.until(/"event":"watching"/)
    utimesSync(bench.file('b.wav'), new Date(), new Date(1e12))
    await longerThanSettling()
    expect(bench.names('out')).toEqual(['a.wav', 'a.wav.voxmux.json'])
    expect(starts()).toBe(1)
    renameSync(bench.file('b.wav'), source)
    await ffmpeg('-i', fixture('speech.wav'), '-af', 'volume=0.5', bench.workshop.path('newer.wav'))
    renameSync(bench.workshop.path('newer.wav'), source)
    await until(() => isPublished('a.wav') && receiptOf('a.wav').input.sha256 === sha256Of(source))
    expect(starts()).toBe(2)
    expect(bench.names('out')).toEqual(['a.wav', 'a.wav.voxmux.json'])
  })

  it('makes an output of its own of a renamed film when another film gets its old name', async () => {
    bench.watch()
    const source = drop('speech.wav', 'export.wav')
    await published('export.wav')
    renameSync(source, bench.file('scene 1.wav'))
    await ffmpeg('-i', fixture('speech.wav'), '-af', 'volume=0.5', bench.workshop.path('next.wav'))
    renameSync(bench.workshop.path('next.wav'), source)
    await published('scene 1.wav')
    await until(() => receiptOf('export.wav').input.sha256 === sha256Of(source))
    expect(receiptOf('scene 1.wav').input.sha256).toBe(sha256Of(bench.file('scene 1.wav')))
    expect(starts()).toBe(2)
  })

  it('follows a file that is renamed while its job waits', async () => {
    bench.server.fail('registerFile', { kind: 'status', status: 503 }, 12)
    const daemon = bench.watch()
    drop('speech.wav', 'first name.wav')
    await daemon.until(/"job begins"/)
    renameSync(bench.file('first name.wav'), bench.file('second name.wav'))
    bench.server.heal()
    await until(() => isPublished('second name.wav') || isPublished('first name.wav'))
    await longerThanSettling()
    expect(bench.names('out').filter((name) => name.endsWith('.wav'))).toHaveLength(1)
    expect(starts()).toBe(1)
    expect(bench.names('failed')).toEqual([])
  })

  it('reports a bad file, holds up nothing, and takes the report back when it is mended', async () => {
    bench.watch()
    drop('truncated.mp4', 'bad.mp4')
    drop('speech.wav', 'good.wav')
    await published('good.wav')
    await until(() => bench.report('bad.mp4'))
    expect(bench.report('bad.mp4')).toMatchObject({
      ...{ source: bench.file('bad.mp4'), status: 'rejected', code: 'ERR_UNREADABLE', errorCode: -2 },
      remedies: [expect.any(String), expect.any(String), expect.stringContaining('voxmux jobs retry')],
    })
    drop('phone.mp4', 'bad.mp4')
    await published('bad.mp4')
    await until(() => bench.report('bad.mp4') === undefined)
    expect(starts()).toBe(2)
  })

  // In short it is unmounted, in unmounted.test.ts.
  it.runIf(process.env.VOXMUX_SOAK)(
    'waits while the output folder is away, and goes on when it can (only in the soak)',
    async () => {
      mkdirSync(bench.workshop.path('out'))
      const daemon = bench.watch('--out', 'out')
      await daemon.until(/"event":"watching"/)
      renameSync(bench.workshop.path('out'), bench.workshop.path('away'))
      const source = drop('speech.wav', 'a.wav')
      await daemon.until(/out is not there\. Its files wait/)
      expect(bench.names('failed')).toEqual([])
      renameSync(bench.workshop.path('away'), bench.workshop.path('out'))
      await until(() => existsSync(bench.workshop.path('out/a.wav')))
      expect(sha256Of(source)).toBe(sha256Of(fixture('speech.wav')))
      expect(starts()).toBe(1)
    },
  )

  it('goes offline with its root, forgets nothing, and goes on when it is back', async () => {
    const daemon = bench.watch()
    drop('speech.wav', 'a.wav')
    await published('a.wav')
    renameSync(bench.workshop.path('in'), bench.workshop.path('away'))
    await daemon.until(/is not there\. Its files wait/)
    copyFileSync(fixture('timecode.mov'), bench.workshop.path('away/b.mov'))
    renameSync(bench.workshop.path('away'), bench.workshop.path('in'))
    await daemon.until(/in is watched again/)
    await published('b.mov')
    expect(starts()).toBe(2)
    expect(bench.names('failed')).toEqual([])
  })

  it('never has two daemons take one file, and survives kill -9', async () => {
    const daemons = [bench.watch(), bench.watch()]
    await Promise.all(daemons.map((daemon) => daemon.until(/"event":"watching"/)))
    const names = ['a.wav', 'b.mov', 'c.mp4']
    drop('speech.wav', 'a.wav')
    drop('timecode.mov', 'b.mov')
    drop('phone.mp4', 'c.mp4')
    await until(() => starts() > 0)
    daemons[0]?.child.kill('SIGKILL')
    await daemons[0]?.ended
    bench.watch()
    for (const name of names) await published(name)
    expect(starts()).toBe(3)
    expect(bench.server.charges).toBe(3)
    await until(() => bench.names('out').length === 6)
    expect(bench.names('out')).toEqual(names.flatMap((name) => [name, `${name}.voxmux.json`]))
  })

  it('with --once works off what is there and ends with the gravest exit code', async () => {
    drop('speech.wav', 'a.wav')
    drop('truncated.mp4', 'bad.mp4')
    drop('speech.wav', 'half.wav.part')
    const result = await bench.watch('--once').ended
    expect(result.exitCode, result.stderr).toBe(5)
    expect(eventsOf(result).at(-1)).toMatchObject({ event: 'result', done: 1, rejected: 1, failed: 0 })
    expect(bench.names('out')).toEqual(['a.wav', 'a.wav.voxmux.json'])
    expect(statSync(bench.file('half.wav.part')).size).toBeGreaterThan(0)
    const again = await bench.watch('--once').ended
    expect(again.exitCode).toBe(0)
    expect(eventsOf(again).at(-1)).toMatchObject({ done: 0, skipped: 0, rejected: 0 })
    expect(starts()).toBe(1)
  })

  it('writes nothing behind a symlink that leads out of a folder for outputs, and lets a named one be a link', async () => {
    for (const name of ['elsewhere', 'real']) mkdirSync(bench.workshop.path(name))
    drop('speech.wav', 'day/a.wav')
    symlinkSync('../elsewhere', bench.file('out'))
    const refused = await bench.watch('--once').ended
    expect(refused.exitCode, refused.stderr).toBe(2)
    const error = { code: 'ERR_WATCH_FOLDER', message: expect.stringContaining('leads out of') }
    expect(eventsOf(refused).at(-1)).toMatchObject({ event: 'result', error })

    symlinkSync('real', bench.workshop.path('out'))
    symlinkSync('../elsewhere', bench.workshop.path('real/day'))
    const failed = await bench.watch('--once', '--out', 'out', '--failed', 'failed').ended
    expect(failed.exitCode, failed.stderr).toBe(2)
    expect(eventsOf(failed).at(-1)).toMatchObject({ event: 'result', done: 0, failed: 1 })
    expect(readFileSync(bench.workshop.path('failed/day/a.wav.json'), 'utf8')).toContain('leads out of')
    expect([filesBelow(bench.workshop.path('elsewhere')), bench.server.charges]).toEqual([[], 0])

    drop('timecode.mov', 'b.mov')
    const done = await bench.watch('--once', '--out', 'out', '--failed', 'failed').ended
    expect(done.exitCode, done.stderr).toBe(0)
    expect(filesBelow(bench.workshop.path('real'))).toEqual(['b.mov', 'b.mov.voxmux.json'])
  })

  it('waits for a folder that never was there, says if it looks mistyped, and refuses a file', async () => {
    rmdirSync(bench.workshop.path('in'))
    const refused = async (message: string, ...more: readonly string[]) => {
      const result = await bench.watch(...more).ended
      expect(result.exitCode).toBe(2)
      const error = { code: 'ERR_INPUT_MISSING', message: expect.stringContaining(message) }
      expect(eventsOf(result).at(-1)).toMatchObject({ event: 'result', error })
    }
    await refused('does not exist', '--once')
    const daemon = bench.watch('--port', '0')
    await daemon.until(/"event":"watching"/)
    expect(daemon.said()).toMatch(/\/in does not exist, but \S+ does: correct the path, create the folder, or mount/)
    const url = /"url":"(http[^"]+)"/.exec(daemon.said())?.[1]
    expect((await fetch(`${url}readyz`)).status).toBe(503)
    mkdirSync(bench.workshop.path('in'))
    drop('speech.wav', 'a.wav')
    await until(() => isPublished('a.wav'))
    expect((await fetch(`${url}readyz`)).status).toBe(200)
    daemon.child.kill('SIGINT')
    expect((await daemon.ended).exitCode).toBe(130)
    rmSync(bench.workshop.path('in'), { recursive: true })
    rmSync(String(bench.workshop.env.VOXMUX_STATE_DIR), { recursive: true })
    copyFileSync(fixture('speech.wav'), bench.workshop.path('in'))
    await refused('is not a folder')
  })
})
