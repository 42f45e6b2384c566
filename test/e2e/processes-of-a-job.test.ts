import { readFile, writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { findFfmpeg, findFfprobe } from '../../src/media/index.js'
import { fixture } from '../helpers/job-bench.js'
import { type TestFolder, testFolder } from '../helpers/media-factory.js'
import { runCli } from '../helpers/voxmux-cli.js'

/** Two whole jobs a test, each in its own process. */
const SLOW_MS = 180_000

let folder: TestFolder
let env: Record<string, string>

beforeAll(async () => {
  folder = await testFolder()
  env = { VOXMUX_STATE_DIR: folder.file('state') }
  for (const { path } of await Promise.all([findFfmpeg(), findFfprobe()])) {
    const name = path.endsWith('ffprobe') ? 'ffprobe' : 'ffmpeg'
    const script = `#!/bin/sh\necho "${name} $*" >> ${folder.file('started')}\nexec ${path} "$@"\n`
    await writeFile(folder.file(name), script, { mode: 0o755 })
    env[`VOXMUX_${name.toUpperCase()}`] = folder.file(name)
  }
})
afterAll(() => folder.remove())

/** The tools that one command starts, with their arguments. */
async function startedBy(...args: readonly string[]): Promise<readonly string[]> {
  await writeFile(folder.file('started'), '')
  const result = await runCli(args, { cwd: folder.path, env })
  expect(result).toMatchObject({ exitCode: 0 })
  const lines = (await readFile(folder.file('started'), 'utf8')).split('\n')
  return lines.filter((line) => line !== '')
}

// Each start of a tool takes about 0.1 s of processor time, which is most of what a short file takes. The bounds are what
// is needed today: raise one only for something that no running process can do.
const FILES: readonly (readonly [name: string, first: number, again: number])[] = [
  // Versions 2, encoder 5 (ways to search, priming, trial: write, probe, decode), probe 1, cut 1, voice at 48 kHz 1; service: probe, measure, decode, resample 2, encode; unpack 1, encode 1, packets 1; verify 2.
  ['phone.mp4', 21, 8],
  // Versions 2, probe 2, cut 1; service: probe, measure, decode, encode; unpack 1, samples 1; verify 2.
  ...(process.env.VOXMUX_SOAK ? [['speech.wav', 13, 7] as const] : []),
]

it.each(FILES)(
  '%s needs at most %i processes, and %i if tools and voice are known',
  async (name, first, again) => {
    env.VOXMUX_STATE_DIR = folder.file(`state-${name}`)
    const run = ['run', fixture(name), '-o', folder.file(`out-${name}`), '--force', '--progress', 'none']
    const started = await startedBy(...run)
    expect(started.length, started.join('\n')).toBeLessThanOrEqual(first)
    const repeated = await startedBy(...run)
    expect(repeated.length, repeated.join('\n')).toBeLessThanOrEqual(again)
  },
  SLOW_MS,
)

// One to probe, one to find a voice and to map it.
it(
  'a check needs at most 2 processes if the tools are known',
  async () => {
    await startedBy('check', fixture('phone.mp4'))
    const started = await startedBy('check', fixture('phone.mp4'))
    expect(started.length, started.join('\n')).toBeLessThanOrEqual(2)
  },
  SLOW_MS,
)
