import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { COMMANDS } from '../../src/cli/command-table.js'
import { resultEventSchema } from '../../src/pipeline/events.js'
import { commandInProcess } from '../helpers/command-in-process.js'
import { secondOfSpeech } from '../helpers/sound/second-of-speech.js'
import { CLI_PATH } from '../helpers/voxmux-cli.js'

const fixture = (name: string) => fileURLToPath(new URL(`../../fixtures/${name}`, import.meta.url))

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'voxmux-cli-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs the command line as a shell would, with nothing in its environment but what is given. */
function voxmux(args: readonly string[], env: Record<string, string> = {}): Promise<Ended> {
  return new Promise((resolve) => {
    const options = { cwd: folder, env: { VOXMUX_STATE_DIR: join(folder, 'state'), ...env } }
    const child = execFile(process.execPath, [CLI_PATH, ...args], options, (_, stdout, stderr) => {
      resolve({ code: child.exitCode ?? -1, stdout, stderr })
    })
  })
}

/** The same without a start: all but the first of a table. */
const inProcess = (args: readonly string[]) =>
  commandInProcess(args, { cwd: folder, env: { VOXMUX_STATE_DIR: join(folder, 'state') } })

const events = (stdout: string): Record<string, unknown>[] =>
  stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)

describe('help', () => {
  it('shows every command', async () => {
    const { code, stdout } = await voxmux(['--help'])
    expect(code).toBe(0)
    for (const { name } of COMMANDS) expect(stdout).toContain(`\n  ${name}`)
  })

  it.each(COMMANDS.map(({ name }) => name))('%s has examples', async (name) => {
    const { code, stdout } = await inProcess([name, '--help'])
    expect(code).toBe(0)
    expect(stdout).toMatch(new RegExp(`Examples:\\n\\s+voxmux ${name}`))
  })

  it('without arguments it is said on stderr and is a usage error', async () => {
    const { code, stdout, stderr } = await voxmux([])
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toContain('Usage:')
  })

  it('tells its version', async () => {
    expect((await voxmux(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
    expect((await voxmux(['version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
  })

  it('is given to a person who asks for it in words', async () => {
    for (const words of [[], ['run']])
      expect(await voxmux(['help', ...words])).toEqual(await voxmux([...words, '--help']))
  })
})

describe('usage errors', () => {
  it.each([
    [['presets', '--jsn'], '--jsn is not an option; did you mean --json?'],
    [['prests'], '"prests" is neither a command nor a file. Did you mean `voxmux presets`?'],
    [['frobnicate'], '"frobnicate" is neither a command nor a file.'],
    [['frobnicate', '--help'], '"frobnicate" is neither a command nor a file.'],
    [['--foo', 'a.mp4'], '--foo is not an option.'],
    [['--verison'], '--verison is not an option; did you mean `voxmux --version`?'],
    [['-V'], '-V is not an option; did you mean `voxmux --version`?'],
    [['-x', 'a.mp4'], '-x is not an option.\n'],
    [['presets', '--x'], '--x is not an option.\n'],
    [['versoin'], '"versoin" is neither a command nor a file. Did you mean `voxmux version`?'],
    [['help', 'chek'], '"chek" is not a command. Did you mean `voxmux help check`?'],
    [['help', 'frobnicate'], '"frobnicate" is not a command.\n'],
    [['presets', 'podcst'], 'The preset "podcst" does not exist; did you mean "podcast"?'],
    [['presets', 'podcast', 'more'], 'Unexpected argument "more".'],
    [['check'], 'Which file? For example: voxmux check clip.mov'],
    [['check', 'a.mp4', ''], 'An argument is empty.'],
    [['watch', '', '--once'], 'An argument is empty.'],
    [['run', 'a.mp4', '--output', ''], '--output is empty.'],
    [['run', 'a.mp4', '--mix', ''], '--mix is empty.'],
    [['run', 'a.mp4', '--mix='], '--mix is empty.'],
    [['run', 'a.mp4', '--no-mix'], '--no-mix is not an option: --mix takes a value.'],
    [['run', 'a.mp4', '--no-segment'], '--no-segment is not an option: --segment takes a value.'],
    [['run', '--no-output', 'a.mp4'], '--no-output is not an option: --output takes a value.'],
    [['run', 'a.mp4', '--preview', '0'], '--preview takes a duration longer than 0, such as 30s, not "0".'],
    [['check', 'a.mp4', '--channels', 'all'], '--channels takes auto, center, each, downmix, not "all".'],
    [['check', 'a.mp4', '--preset'], '--preset needs a value.\n'],
    [['run', 'a.mp4', '-o', '--force'], '-o needs a value.\n'],
    [['run', 'a.mp4', '-o', '-x.wav'], '-o needs a value. If it is -x.wav, write -o=-x.wav.'],
    [['run', 'a.mp4', '--segment', '-5-10'], '--segment needs a value. If it is -5-10, write --segment=-5-10.'],
    [['portal', 'keys'], '`portal keys` needs an action: create, list, regenerate, revoke or rotate.'],
    [['portal', 'account'], '`portal account` needs an action: create.'],
    [['check', 'a.mp4', '--track', 'first'], '--track must be "only", "all", "default"'],
    [['run', 'a.mp4', '--chunk', '1s'], '--chunk must be at least 10 seconds.'],
    [['jobs', 'lst'], 'The action is list, show, retry, forget, export or import, not "lst"; did you mean list?'],
    [
      ['run', 'a.mp4', '--channels', 'centre'],
      '--channels takes auto, center, each, downmix, not "centre"; did you mean center?',
    ],
    [['presets', 'podcast', '-x'], '-x is not an option.\n'],
  ])('%j', async (args, message) => {
    const run = args[1] === '--jsn' ? voxmux : inProcess
    const people = await run(args)
    expect([people.code, people.stdout]).toEqual([2, ''])
    expect(people.stderr).toContain(`voxmux: ${message}`)
    expect(people.stderr).not.toMatch(/\n\s+at /)
    const program = await run([...args, '--json'])
    const [result, ...more] = events(program.stdout)
    expect([program.code, more]).toEqual([2, []])
    expect(resultEventSchema.parse(result)).toMatchObject({ exitCode: 2, error: { message: expect.any(String) } })
  })

  it.each([
    ['a.wav', ['run']],
    ['a.wav', ['verify']],
    ['a.edl', ['timeline']],
    ['a.json', ['step']],
    ['a.json', ['check', fixture('speech.wav'), '--config']],
    ['a.ndjson', ['jobs', 'import']],
    ['folder', ['portal', 'show', '--data']],
    ['folder', ['worker', '--spool']],
  ])('say in the same words that %s does not exist: %j', async (name, args) => {
    const { code, stdout, stderr } = await inProcess([...args, join(folder, name)])
    expect(code).toBe(2)
    expect(stdout + stderr).toMatch(new RegExp(`${name} (failed: it )?does not exist[.,][^]*→`))
  })

  it('names the wrong key of a configuration file', async () => {
    const path = join(folder, 'wrong.json')
    await writeFile(path, '{"chanels":"each"}')
    const { code, stderr } = await inProcess(['check', fixture('speech.wav'), '--config', path])
    expect(code).toBe(2)
    expect(stderr).toContain(`${path}: unknown key "chanels" (did you mean "channels"?)`)
  })
})

describe('presets', () => {
  it('prints one that --preset takes, and explains it when asked', async () => {
    const { stdout } = await inProcess(['presets', 'podcast'])
    await writeFile(join(folder, 'mine.json'), stdout)
    await writeFile(join(folder, 'voice.wav'), secondOfSpeech())
    expect(await inProcess(['check', 'voice.wav', '--preset', './mine.json'])).toMatchObject({ code: 0 })
    const explained = await inProcess(['presets', './mine.json', '--explain'])
    expect(explained.stdout).toMatch(/loudness\.targetLufs +-16\n/)
    expect(explained.stdout).toMatch(/segments\.crossfadeSec +0\.01 {2}\(default\)/)
  })
})

describe('portal', () => {
  it('makes no service in a folder that holds none', async () => {
    const { code, stderr } = await inProcess(['portal', 'show', '--data', folder])
    expect([code, stderr]).toEqual([2, expect.stringMatching(/ holds no service\.\n.*voxmux serve --data/)])
    expect(existsSync(join(folder, 'service.db'))).toBe(false)
  })

  it('refuses a folder that does not exist, and does not make it', async () => {
    const { code, stderr } = await inProcess(['portal', 'show', '--data', 'typo'])
    expect([code, existsSync(join(folder, 'typo'))]).toEqual([2, false])
    expect(stderr).toContain('voxmux serve --data')
  })
})

describe('words that are never flags', () => {
  it('are inputs after --, whatever they look like, and so is a lone hyphen', async () => {
    await writeFile(join(folder, '-take.wav'), secondOfSpeech())
    const { code, stdout } = await inProcess([
      'check',
      '--json',
      '-',
      fixture('speech.flac'),
      '--',
      '-take.wav',
      '--json',
    ])
    const told = events(stdout).map(({ event, input, status }) => [event, basename(String(input)), status])
    expect([code, ...told]).toEqual([
      2,
      ['file', '-', 'failed'],
      ['file', 'speech.flac', 'done'],
      ['file', '-take.wav', 'done'],
      ['file', '--json', 'failed'],
      ['result', 'undefined', null],
    ])
  })

  it.each([
    [['completion', '--', '-x'], 'The shell is bash, zsh, fish or powershell, not "-x".'],
    [['doctor', '--', '-x'], 'Unexpected argument "-x".'],
  ])('%j is refused as it was typed', async (args, message) => {
    const { code, stderr } = await inProcess(args)
    expect([code, stderr.split('\n')[0]]).toEqual([2, `voxmux: ${message}`])
  })
})

describe('check', () => {
  it.each([
    ['two-tracks.mkv', ['--track', '5'], 'two-tracks.mkv has no audio track "5"'],
    ['surround.wav', ['--track', '5'], 'surround.wav has no audio track "5"'],
  ] as const)(
    'names the fault of the plan of %s, which the service would refuse unchanged',
    async (name, flags, fault) => {
      const { code, stdout } = await inProcess(['check', fixture(name), ...flags])
      expect(code).toBe(2)
      expect(stdout).not.toContain('Ready')
      expect(stdout).toMatch(new RegExp(`^ {2}✖ .*${fault}.*\n {4}→ `, 'm'))
    },
  )

  it.each([
    ['speech.wav', [], 0, []],
    ['two-tracks.mkv', [], 5, [-8]],
    ['two-tracks.mkv', ['--track', '1'], 0, []],
    ['surround.wav', [], 5, [-4]],
    ['surround.wav', ['--channels', 'center'], 0, []],
    ['no-audio.mp4', [], 5, [-18]],
    ['empty.mp4', [], 5, [-2]],
    ['text.mp4', [], 5, [-2]],
    ['truncated.mp4', [], 5, [-2]],
    ['missing.mp4', [], 2, []],
    ['speech.wav', ['--segment', '9:00-10:00'], 2, []],
  ])('%s %j ends with %i', async (name, flags, code, asSent) => {
    // One of them is a real start.
    const run = name === 'two-tracks.mkv' && flags.length === 0 ? voxmux : inProcess
    const ended = await run(['check', fixture(name), '--json', ...flags])
    const [file, result, ...more] = events(ended.stdout)
    expect([ended.code, more]).toEqual([code, []])
    expect(resultEventSchema.parse(result).exitCode).toBe(code)
    expect(file).toMatchObject({ event: 'file', schemaVersion: 1, id: expect.any(String), input: fixture(name) })
    const verdicts = file?.verdicts as { asSent: { errorCode: number }[] }
    expect(verdicts.asSent.map(({ errorCode }) => errorCode)).toEqual(asSent)
  })

  it('says to people what is wrong and what helps', async () => {
    const { stdout } = await inProcess(['check', fixture('two-tracks.mkv')])
    expect(stdout).toMatch(/-8 MultiTrackAudioNotSupported: 2 audio tracks: 0 /)
    expect(stdout).toContain('--track')
  })
})

describe('doctor', () => {
  it('finds ffmpeg with an empty environment and needs no service', async () => {
    const { code, stdout } = await voxmux(['doctor'])
    expect(code).toBe(0)
    expect(stdout).toMatch(/ffmpeg\s+\S+, \/.*\n.*ffprobe/)
    expect(stdout).toContain('embedded: runs on this computer')
  })

  it('names each missing variable and never a secret', async () => {
    const env = { VOXMUX_CLIENT_SECRET: 'hush-hush', VOXMUX_CLIENT_ID: 'id' }
    const { code, stdout, stderr } = await voxmux(['doctor', '--profile', 'production'], env)
    expect(code).toBe(2)
    expect(stdout).toContain('VOXMUX_BASE_URL, VOXMUX_AUTH_URL, VOXMUX_TENANT_ID, VOXMUX_SCOPE are not set')
    expect(stdout + stderr).not.toContain('hush-hush')
  })

  it('--install has nothing to do where ffmpeg is', async () => {
    const { code, stderr } = await inProcess(['doctor', '--install'])
    expect(code).toBe(0)
    expect(stderr).not.toContain('voxmux runs:')
  })
})

it('jobs tells what an empty ledger holds', async () => {
  expect((await inProcess(['jobs', 'list'])).code).toBe(0)
  expect((await inProcess(['jobs', 'show', 'nothing.mp4'])).code).toBe(2)
})
