import { existsSync } from 'node:fs'
import { readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { runCliInProcess } from '../../helpers/command-in-process.js'
import { jobBench } from '../../helpers/job-bench.js'
import { eventsOf, runCli } from '../../helpers/voxmux-cli.js'
import { clip, external, timeline, timeRange, track } from './otio-file.js'

const bench = jobBench()

/** A person's folder and environment: that of the test, with its service. */
const around = () => ({
  cwd: bench.folder.path,
  env: { ...bench.server.env, VOXMUX_STATE_DIR: bench.folder.file('cli-state') },
})

/** Runs `voxmux timeline` in the test's folder, without a start of its own. */
const voxmux = (...args: readonly string[]) => runCliInProcess(['timeline', ...args], around())

async function writeCut(name: string, ...files: readonly string[]): Promise<void> {
  const clips = files.map((file, index) => clip(`clip ${index}`, external(file), timeRange(25 + index, 25, 25)))
  await writeFile(bench.folder.file(name), timeline([track('Audio', clips)]))
}

/** A second of a file of three that would begin after six minutes. */
const OUTSIDE = timeline([track('Audio', [clip('Lost', external('speech.wav'), timeRange(9000, 25, 25))])])

describe('voxmux timeline', () => {
  it('shows with --dry-run what is used, out of what was shot, and what it costs; sends and writes nothing', async () => {
    await bench.take('speech.wav')
    await writeCut('cut.otio', 'speech.wav', 'gone.wav')
    const people = await voxmux('cut.otio', '--dry-run')
    expect(people.stdout).toContain('used        0:01.000 of 0:03.000 shot: 1 clip of 1 file')
    expect(people.stdout).toContain('to pay for  at most 0:03.000, handles included; less if a voice')
    const free = { cwd: bench.folder.path, env: { VOXMUX_STATE_DIR: bench.folder.file('cli-state') } }
    const embedded = await runCliInProcess(['timeline', 'cut.otio', '--dry-run'], free)
    expect(embedded.stdout).toMatch(
      /voice {7}at most 0:03\.000, handles included\n {2}to pay for {2}nothing: the embedded service/,
    )
    expect(people.stdout).toContain('gone.wav is not found: its clips keep the old link.')
    const mistyped = await voxmux('cut.otio', '--dry-run', '--exclude', '*musik*')
    expect(mistyped.stdout).toContain('*musik* is excluded, but no clip and no file is called so.')
    const programs = eventsOf(await voxmux('cut.otio', '--dry-run', '--json'))
    expect(programs.map(({ event }) => event)).toEqual(['timeline', 'file', 'result'])
    expect(programs[0]).toMatchObject({
      ...{ clips: 1, usedSec: 1, shotSec: 3, paidSec: 3, output: bench.folder.file('cut.regen.otio') },
      sources: [{ input: bench.folder.file('speech.wav'), used: [{ startSample: 48_000, endSample: 96_000 }] }],
      notes: [{ kind: 'offline', subject: 'gone.wav' }],
    })
    expect(programs[2]).toMatchObject({ exitCode: 0, skipped: 1 })
    expect([bench.server.calls.token, existsSync(bench.folder.file('cut.regen.otio'))]).toEqual([0, false])
  })

  it('ends with the timeline on the result, after an event for each file', async () => {
    await bench.take('speech.wav')
    await writeCut('cut.otio', 'speech.wav', 'speech.wav')
    const run = await runCli(['timeline', 'cut.otio', '--json', '-o', 'finished'], around())
    const events = eventsOf(run)
    expect(run.exitCode).toBe(0)
    const output = bench.folder.file('finished/cut.regen.otio')
    expect(events.at(-1)).toMatchObject({ event: 'result', exitCode: 0, done: 2, status: 'done', output })
    const files = events.filter(({ event }) => event === 'file')
    expect(files.map(({ output }) => output)).toEqual([bench.folder.file('finished/speech.regen.wav'), output])
    expect(await readFile(output, 'utf8')).toContain('finished/speech.regen.wav')
    expect((await voxmux('cut.otio', '-o', 'finished')).stderr).toContain('cut.otio: already done')
    const proved = await runCliInProcess(['verify', output, '--json'], around())
    expect([proved.exitCode, proved.stderr]).toEqual([0, expect.stringContaining('is a timeline')])
    expect(eventsOf(proved)[0]).toMatchObject({ status: 'done', input: bench.folder.file('finished/speech.regen.wav') })
  })

  it('never replaces the timeline that it reads, not under another name either', async () => {
    await bench.take('speech.wav')
    await writeCut('cut.otio', 'speech.wav')
    await symlink('.', bench.folder.file('beside'))
    const { exitCode, stderr } = await voxmux('cut.otio', '-o', 'beside/cut.otio', '--force', '--dry-run')
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('The output would replace the timeline')])
  })

  it.each([
    ['a kind of file that is no timeline', 'cut.drp', 'x', [], 2, 'ERR_TIMELINE_FORMAT'],
    ['a file that is not there', 'cut.otio', null, [], 2, 'ERR_INPUT_MISSING'],
    ['a truncated file', 'cut.otio', '{"OTIO_SCHEMA": "Timel', [], 2, 'ERR_TIMELINE_UNREADABLE'],
    ['media that are all offline', 'cut.otio', ['gone.wav'], [], 2, 'ERR_TIMELINE_OFFLINE'],
    ['no sound at all', 'cut.otio', [], [], 2, 'ERR_TIMELINE_SILENT'],
    ['parts that no file has', 'cut.otio', OUTSIDE, [], 2, 'ERR_TIMELINE_OUTSIDE'],
    [
      'media that are offline, with --strict',
      'cut.otio',
      ['speech.wav', 'gone.wav'],
      ['--strict'],
      5,
      'ERR_STRICT_TIMELINE',
    ],
    ['a frame rate that is none', 'cut.otio', ['speech.wav'], ['--fps', 'PAL'], 2, 'ERR_USAGE'],
    ['everything excluded', 'cut.otio', ['speech.wav'], ['--exclude', 'speech*'], 2, 'ERR_TIMELINE_EXCLUDED'],
    ['a media root that is not there', 'cut.otio', ['speech.wav'], ['--media-root', 'rushs'], 2, 'ERR_MEDIA_ROOT'],
    ['a media root that is a file', 'cut.otio', ['speech.wav'], ['--media-root', 'speech.wav'], 2, 'ERR_MEDIA_ROOT'],
  ] as const)('refuses %s', async (_, name, content, flags, exitCode, code) => {
    await bench.take('speech.wav')
    if (typeof content === 'string') await writeFile(bench.folder.file(name), content)
    else if (content) await writeCut(name, ...content)
    const run = await voxmux(name, '--json', ...flags)
    expect(run.exitCode).toBe(exitCode)
    expect(eventsOf(run)).toEqual([
      expect.objectContaining({ event: 'result', exitCode, error: expect.objectContaining({ code }) }),
    ])
    expect(bench.server.calls.token).toBe(0)
  })

  it('names a file of many channels before anything is sent, and takes it when it is told how', async () => {
    await bench.take('surround.wav')
    await writeCut('cut.otio', 'surround.wav')
    const refused = await voxmux('cut.otio', '--json')
    expect(refused.exitCode).toBe(5)
    expect(eventsOf(refused).find(({ event }) => event === 'file')).toMatchObject({
      status: 'rejected',
      error: { errorCode: -4, remedies: expect.arrayContaining([expect.stringContaining('--channels')]) },
    })
    expect([bench.server.charges, existsSync(bench.folder.file('cut.regen.otio'))]).toEqual([0, false])
    const taken = await voxmux('cut.otio', '--json', '--channels', 'center')
    expect(taken.exitCode).toBe(0)
    expect(bench.server.charges).toBe(1)
    expect(existsSync(bench.folder.file('cut.regen.otio'))).toBe(true)
  })

  it('names with --dry-run the refusal that the run would give for an output that exists', async () => {
    await bench.take('speech.wav')
    await writeCut('cut.otio', 'speech.wav')
    const dry = async (...args: readonly string[]) => {
      const { exitCode, stderr } = await voxmux('cut.otio', '--dry-run', ...args)
      return [exitCode, /^voxmux: .*?(\w+\.regen\.\w+)/m.exec(stderr)?.[1] ?? null]
    }
    await writeFile(bench.folder.file('cut.regen.otio'), 'mine')
    expect(await dry()).toEqual([2, 'cut.regen.otio'])
    await rm(bench.folder.file('cut.regen.otio'))
    await writeFile(bench.folder.file('speech.regen.wav'), 'mine')
    expect(await dry()).toEqual([2, 'speech.regen.wav'])
    const forced = await voxmux('cut.otio', '--force')
    expect([forced.exitCode, await dry()]).toEqual([0, [0, null]])
    expect(await dry('--preset', 'podcast')).toEqual([2, 'speech.regen.wav'])
  })

  it('leaves a timeline whose clips an editor can switch back, each by one key', async () => {
    await bench.take('speech.wav')
    await writeCut('cut.otio', 'speech.wav')
    expect((await voxmux('cut.otio')).exitCode).toBe(0)
    const made = await readFile(bench.folder.file('cut.regen.otio'), 'utf8')
    const plan = async (text: string) => {
      await writeFile(bench.folder.file('switched.otio'), text)
      const [planned] = eventsOf(await voxmux('switched.otio', '--dry-run', '--json'))
      const inputs = ((planned?.sources ?? []) as { input: string }[]).map(({ input }) => input)
      return [...inputs, ...((planned?.notes ?? []) as { subject: string }[]).map(({ subject }) => subject)]
    }
    expect(await plan(made)).toEqual([bench.folder.file('speech.wav'), 'speech.regen.wav'])
    const back = made.replace('"active_media_reference_key": "voxmux"', '"active_media_reference_key": "DEFAULT_MEDIA"')
    expect(await plan(back)).toEqual([bench.folder.file('speech.wav'), 'speech.wav'])
  })
})
