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
import { setTimeout as sleep } from 'node:timers/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import { fixture } from '../../helpers/job-bench.js'
import { tinyWave } from '../../helpers/sound/tiny-wave.js'
import { until } from '../../helpers/until.js'
import { eventsOf, type RunningCli } from '../../helpers/voxmux-cli.js'
import { filesBelow, handlesOf, sha256Of, watchBench } from './watch-bench.js'

/** Longer than the settle time, so that what is taken too early is taken. */
const longerThanSettling = () => sleep(1200)

/** Starts of the daemon and jobs, on a machine that has other tests to run. */
const LONG_MS = 240_000

describe('voxmux watch, while it runs', { timeout: LONG_MS }, () => {
  const bench = watchBench('all')
  const { drop, dropSound, isPublished, published, receiptOf, starts } = handlesOf(bench)
  let daemon: RunningCli
  beforeAll(async () => {
    daemon = bench.watch()
    await daemon.until(/"event":"watching"/)
  })

  it('waits for a file that grows, and for one whose size is reserved and that is filled slowly', async () => {
    const before = starts()
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
      expect(starts()).toBe(before)
    }
    // Whole, but still open for writing.
    await growing.close()
    await filled.close()
    await published('growing.mov')
    await published('reserved.mov')
    for (const name of ['growing.mov', 'reserved.mov'])
      expect(receiptOf(name).input.sha256).toBe(sha256Of(fixture('timecode.mov')))
    expect(starts()).toBe(before + 1)
  })

  it('makes an output of its own of a renamed film when another film gets its old name', async () => {
    const before = starts()
    const source = dropSound(2, 'export.wav')
    await published('export.wav')
    renameSync(source, bench.file('scene 1.wav'))
    dropSound(3, 'export.wav')
    await published('scene 1.wav')
    await until(() => receiptOf('export.wav').input.sha256 === sha256Of(source))
    expect(receiptOf('scene 1.wav').input.sha256).toBe(sha256Of(bench.file('scene 1.wav')))
    expect(starts()).toBe(before + 2)
  })

  it('follows a file that is renamed while its job waits', async () => {
    const [before, asked] = [starts(), bench.server.calls.registerFile]
    bench.server.fail('registerFile', { kind: 'status', status: 503 }, 12)
    dropSound(4, 'first name.wav')
    await until(() => bench.server.calls.registerFile > asked)
    renameSync(bench.file('first name.wav'), bench.file('second name.wav'))
    bench.server.heal()
    await until(() => isPublished('second name.wav') || isPublished('first name.wav'))
    await longerThanSettling()
    expect(bench.names('out').filter((name) => / name\.wav$/.test(name))).toHaveLength(1)
    expect(starts()).toBe(before + 1)
    expect(bench.names('failed')).toEqual([])
  })

  it('reports a bad file, holds up nothing, and takes the report back when it is mended', async () => {
    const before = starts()
    drop('truncated.mp4', 'bad.mp4')
    dropSound(1, 'good.wav')
    await published('good.wav')
    await until(() => bench.report('bad.mp4'))
    expect(bench.report('bad.mp4')).toMatchObject({
      ...{ source: bench.file('bad.mp4'), status: 'rejected', code: 'ERR_UNREADABLE', errorCode: -2 },
      remedies: [expect.any(String), expect.any(String), expect.stringContaining('voxmux jobs retry')],
    })
    drop('phone.mp4', 'bad.mp4')
    await published('bad.mp4')
    await until(() => bench.report('bad.mp4') === undefined)
    expect(starts()).toBe(before + 2)
  })

  it('goes offline with its root, forgets nothing, and goes on when it is back', async () => {
    const before = starts()
    renameSync(bench.workshop.path('in'), bench.workshop.path('away'))
    await daemon.until(/is not there\. Its files wait/)
    writeFileSync(bench.workshop.path('away/b.wav'), tinyWave(5))
    renameSync(bench.workshop.path('away'), bench.workshop.path('in'))
    await daemon.until(/in is watched again/)
    await published('b.wav')
    expect(starts()).toBe(before + 1)
    expect(bench.names('failed')).toEqual([])
  })
})

describe('voxmux watch', { timeout: LONG_MS }, () => {
  const bench = watchBench()
  const { drop, dropSound, isPublished, published, receiptOf, starts } = handlesOf(bench)

  it('publishes what is dropped under its name and folder, tells it, and ends with SIGTERM', async () => {
    const daemon = bench.watch()
    await daemon.until(/"event":"watching"/)
    const source = dropSound(1, 'day 1/-take 🎬.wav')
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
    const source = dropSound(1, 'a.wav')
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
    dropSound(2, 'a.wav')
    await until(() => isPublished('a.wav') && receiptOf('a.wav').input.sha256 === sha256Of(source))
    expect(starts()).toBe(2)
    expect(bench.names('out')).toEqual(['a.wav', 'a.wav.voxmux.json'])
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

  it('never has two daemons take one file, and survives kill -9', async () => {
    const daemons = [bench.watch(), bench.watch()]
    await Promise.all(daemons.map((daemon) => daemon.until(/"event":"watching"/)))
    const names = ['a.wav', 'b.mov', 'c.wav']
    dropSound(1, 'a.wav')
    drop('timecode.mov', 'b.mov')
    dropSound(2, 'c.wav')
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
    dropSound(1, 'a.wav')
    drop('truncated.mp4', 'bad.mp4')
    dropSound(2, 'half.wav.part')
    const result = await bench.watch('--once').ended
    expect(result.exitCode, result.stderr).toBe(5)
    expect(eventsOf(result).at(-1)).toMatchObject({ event: 'result', done: 1, rejected: 1, failed: 0 })
    expect(bench.names('out')).toEqual(['a.wav', 'a.wav.voxmux.json'])
    expect(statSync(bench.file('half.wav.part')).size).toBeGreaterThan(0)
    const again = await bench.once()
    expect(again.exitCode).toBe(0)
    expect(eventsOf(again).at(-1)).toMatchObject({ done: 0, skipped: 0, rejected: 0 })
    expect(starts()).toBe(1)
  })

  it('writes nothing behind a symlink that leads out of a folder for outputs, and lets a named one be a link', async () => {
    for (const name of ['elsewhere', 'real']) mkdirSync(bench.workshop.path(name))
    dropSound(1, 'day/a.wav')
    symlinkSync('../elsewhere', bench.file('out'))
    const refused = await bench.once()
    expect(refused.exitCode, refused.stderr).toBe(2)
    const error = { code: 'ERR_WATCH_FOLDER', message: expect.stringContaining('leads out of') }
    expect(eventsOf(refused).at(-1)).toMatchObject({ event: 'result', error })

    symlinkSync('real', bench.workshop.path('out'))
    symlinkSync('../elsewhere', bench.workshop.path('real/day'))
    const failed = await bench.once('--out', 'out', '--failed', 'failed')
    expect(failed.exitCode, failed.stderr).toBe(2)
    expect(eventsOf(failed).at(-1)).toMatchObject({ event: 'result', done: 0, failed: 1 })
    expect(readFileSync(bench.workshop.path('failed/day/a.wav.json'), 'utf8')).toContain('leads out of')
    expect([filesBelow(bench.workshop.path('elsewhere')), bench.server.charges]).toEqual([[], 0])

    dropSound(2, 'b.wav')
    const done = await bench.once('--out', 'out', '--failed', 'failed')
    expect(done.exitCode, done.stderr).toBe(0)
    expect(filesBelow(bench.workshop.path('real'))).toEqual(['b.wav', 'b.wav.voxmux.json'])
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
    expect(daemon.said()).not.toContain('"msg":"watching"')
    const url = /"url":"(http[^"]+)"/.exec(daemon.said())?.[1]
    expect((await fetch(`${url}readyz`)).status).toBe(503)
    mkdirSync(bench.workshop.path('in'))
    dropSound(1, 'a.wav')
    await published('a.wav')
    expect((await fetch(`${url}readyz`)).status).toBe(200)
    daemon.child.kill('SIGINT')
    expect((await daemon.ended).exitCode).toBe(130)
    rmSync(bench.workshop.path('in'), { recursive: true })
    rmSync(String(bench.workshop.env.VOXMUX_STATE_DIR), { recursive: true })
    copyFileSync(fixture('speech.wav'), bench.workshop.path('in'))
    await refused('is not a folder')
  })
})
