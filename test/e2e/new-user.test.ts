import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { resultEventSchema } from '../../src/pipeline/events.js'
import { runCliInProcess } from '../helpers/command-in-process.js'
import { CLI_PATH, eventsOf, runCli } from '../helpers/voxmux-cli.js'
import { openWorkshop, type Workshop } from '../helpers/workshop.js'

let workshop: Workshop

beforeEach(() => {
  workshop = openWorkshop()
})
afterEach(() => workshop.remove())

describe('the path of a new user, with nothing configured and an empty environment', () => {
  it('`voxmux clip.mp4` leaves the finished film and its receipt beside it, everything else kept', async () => {
    const input = demoClip()
    const result = await runCli([input, '--progress', 'plain'], options())
    expect(result.exitCode, result.stderr).toBe(0)
    const output = workshop.path('clip.regen.mp4')
    expect(JSON.parse(readFileSync(`${output}.voxmux.json`, 'utf8'))).toBeTypeOf('object')
    expect(result.stderr).toContain('clip.regen.mp4')
    expect(packetHashes(output, 'v')).toBe(packetHashes(input, 'v'))
    expect(packetHashes(output, 's')).toBe(packetHashes(input, 's'))
    expect(packetHashes(output, 'a')).not.toBe(packetHashes(input, 'a'))
    expect(outline(output)).toEqual(outline(input))

    const again = await runCliInProcess(['run', input, '--json'], options())
    expect(again.exitCode).toBe(0)
    expect(resultEventSchema.parse(eventsOf(again).at(-1))).toMatchObject({ status: 'skipped', skipped: 1, output })
    // The engine needs a minute for the demo's film if the cores are shared; the soak gives it the whole.
  }, 240_000)

  it('`--json` prints events alone: progress, one file, one result', async () => {
    const input = workshop.takeVoice('speech.wav')
    const result = await runCli(['run', input, '--json', '-o', workshop.path('out.wav')], options())
    expect(result.exitCode, result.stderr).toBe(0)
    const events = eventsOf(result)
    const kinds = events.map(({ event }) => event).filter((event) => event !== 'progress')
    expect(kinds).toEqual(['file', 'result'])
    expect(events.every(({ schemaVersion, id }) => schemaVersion === 1 && typeof id === 'string')).toBe(true)
    const report = resultEventSchema.parse(events.at(-1))
    expect(report).toMatchObject({ exitCode: 0, done: 1, status: 'done', output: workshop.path('out.wav') })
    expect(existsSync(report.receipt ?? '')).toBe(true)
  })

  it('`--open` opens the report, and a terminal is told of it at the end', async () => {
    const input = workshop.take('silence.wav')
    const env = { PATH: '/usr/bin:/bin', ...workshop.env }
    const command = `${process.execPath} ${CLI_PATH} silence.wav --mix 0`
    const shown = execFileSync('script', ['-qec', command, '/dev/null'], { cwd: workshop.dir, env, encoding: 'utf8' })
    expect(shown).toContain('Next: repeat the command with --open')
    const [bin, opened] = [workshop.path('bin'), workshop.path('opened')]
    mkdirSync(bin)
    const browser = `#!/bin/sh\nenv | grep -c VOXMUX_ > ${opened}.env; echo "$1" > ${opened}.part; mv ${opened}.part ${opened}\n`
    for (const name of ['xdg-open', 'open']) writeFileSync(join(bin, name), browser, { mode: 0o755 })
    const again = await runCli([input, '--mix', '0', '--open'], {
      cwd: workshop.dir,
      env: { ...env, PATH: `${bin}:/usr/bin:/bin` },
    })
    expect(again.exitCode, again.stderr).toBe(0)
    await expect.poll(() => existsSync(opened)).toBe(true)
    const page = readFileSync(opened, 'utf8').trim()
    expect([existsSync(page), page]).toEqual([true, expect.stringContaining('silence.regen.wav')])
    expect(readFileSync(`${opened}.env`, 'utf8')).toBe('0\n')
  })

  it('a name without an extension is a folder, and a report that is asked for later is named', async () => {
    const input = workshop.take('silence.wav')
    const args = [input, '--mix', '0', '--output', 'newd']
    expect((await runCli(args, options())).stderr).toContain('newd/silence.regen.wav')
    expect((await runCliInProcess([...args, '--report'], options())).stderr).toMatch(
      /report +\S+newd\/silence\.regen\.wav\.\S+html/,
    )
  })
})

/** The demo's film, or its first seconds: pictures, sound, subtitles and chapters. */
function demoClip(): string {
  if (process.env.VOXMUX_SOAK) return workshop.take('interview.mp4', 'clip.mp4')
  const whole = workshop.take('interview.mp4')
  const input = workshop.path('clip.mp4')
  ffmpeg(['-i', whole, '-t', '2', '-map', '0:v', '-map', '0:a', '-map', '0:s', '-c', 'copy', input])
  return input
}

function options() {
  return { cwd: workshop.dir, env: workshop.env }
}

/** One line a stream of the kind: its number and the hash of its packets. */
function packetHashes(path: string, kind: 'v' | 'a' | 's'): string {
  return ffmpeg(['-i', path, '-map', `0:${kind}`, '-c', 'copy', '-f', 'streamhash', '-'])
}

/** What a player's menus show: streams with their kind, language and title, chapters, the film's title. */
function outline(path: string): unknown {
  const entries =
    'format_tags=title:stream=codec_name:stream_tags=language,title:chapter=start_time,end_time:chapter_tags'
  const answer = JSON.parse(run('ffprobe', ['-v', 'error', '-show_entries', entries, '-of', 'json', path]))
  return answer
}

function ffmpeg(args: readonly string[]): string {
  return run('ffmpeg', ['-nostdin', '-v', 'error', ...args])
}

function run(program: string, args: readonly string[]): string {
  return execFileSync(program, args, { encoding: 'utf8' })
}
