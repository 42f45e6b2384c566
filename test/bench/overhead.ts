/**
 * What voxmux costs beside the bare minimum, as ratios: `npm run bench overhead [minutes]` (default 10).
 *
 * The service answers at once and changes nothing, so what is measured is the client alone: against the two ffmpeg
 * commands a person would type (cut the audio out; mux it back with one encode).
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FaultServer } from '../helpers/fault-server.js'
import { CLI_PATH, startCli } from '../helpers/voxmux-cli.js'
import { makeLongFilm } from './long-film.js'
import { median, peakMemoryMb, timedSec } from './measure.js'

const ROUNDS = 3
const STARTS = 15

const minutes = Number(process.argv[3] ?? 10)
const dir = mkdtempSync(join(tmpdir(), 'voxmux-bench-'))
try {
  await measureStart()
  const film = makeLongFilm(dir, minutes)
  const peakMb = await measureWall(film)
  await measureMemory(peakMb, makeLongFilm(dir, minutes * 10))
} finally {
  rmSync(dir, { recursive: true, force: true })
}

async function measureStart(): Promise<void> {
  const node = (args: readonly string[]) => () => execFileSync(process.execPath, args, { stdio: 'ignore' })
  const bare = await median(STARTS, () => timedSec(node(['-e', '0'])))
  const help = await median(STARTS, () => timedSec(node([CLI_PATH, '--help'])))
  say('voxmux --help over node -e 0', help / bare, `${ms(help)} over ${ms(bare)}`, 3)
}

/** Returns the highest memory of all runs: when V8 first collects what lies outside its heap is chance. */
async function measureWall(film: string): Promise<number> {
  const peaksMb: number[] = []
  const bare = await median(ROUNDS, () => timedSec(() => twoBareCommands(film)))
  for (const [level, limit] of [
    ['fast', 1.25],
    ['full', 1.4],
  ] as const) {
    const own = await median(ROUNDS, () => timedSec(async () => peaksMb.push(await runVoxmux(film, level))))
    say(
      `${minutes} minutes, --verify ${level}, over two bare ffmpeg`,
      own / bare,
      `${sec(own)} over ${sec(bare)}`,
      limit,
    )
  }
  return Math.max(...peaksMb)
}

async function measureMemory(short: number, longFilm: string): Promise<void> {
  const long = await runVoxmux(longFilm, 'full')
  process.stdout.write(
    `peak memory of the node process: ${short} MB, for ten times the length ${long} MB (at most 200)\n`,
  )
  say('its growth with ten times the length', long / short, `${long} over ${short} MB`, 1.1)
}

function twoBareCommands(film: string): void {
  const ffmpeg = (...args: string[]) =>
    execFileSync('ffmpeg', ['-nostdin', '-v', 'error', '-y', ...args], { stdio: 'ignore' })
  const voice = join(dir, 'voice.flac')
  const output = join(dir, 'bare.mp4')
  ffmpeg('-i', film, '-vn', '-c:a', 'flac', voice)
  ffmpeg('-i', film, '-i', voice, '-map', '0:v', '-map', '1:a', '-c:v', 'copy', '-c:a', 'aac', '-b:a', '128k', output)
  for (const path of [voice, output]) rmSync(path)
}

/** Runs the built command on the film with an empty state folder and returns its peak memory in MB. */
async function runVoxmux(film: string, verify: 'fast' | 'full'): Promise<number> {
  const stateDir = mkdtempSync(join(dir, 'state-'))
  const output = join(stateDir, 'out.mp4')
  const server = await FaultServer.start({ states: [{ status: 'Succeeded', errorCode: 0, progress: 100 }] })
  try {
    const args = ['run', film, '-o', output, '--verify', verify, '--progress', 'none']
    const { child, ended } = startCli(args, { cwd: dir, env: { ...server.env, VOXMUX_STATE_DIR: stateDir } })
    const [result, peakMb] = await Promise.all([ended, peakMemoryMb(child)])
    if (result.exitCode !== 0) throw new Error(`voxmux ended with ${result.exitCode}: ${result.stderr}`)
    return peakMb
  } finally {
    await server.close()
    rmSync(stateDir, { recursive: true, force: true })
  }
}

function say(what: string, ratio: number, detail: string, limit: number): void {
  const verdict = ratio <= limit ? 'within' : 'OVER'
  process.stdout.write(`${what}: ${ratio.toFixed(2)} x (${detail}), ${verdict} ${limit} x\n`)
}

function sec(seconds: number): string {
  return `${seconds.toFixed(1)} s`
}

function ms(seconds: number): string {
  return `${Math.round(seconds * 1000)} ms`
}
