/**
 * `npm run bench overhead [minutes] [part…]` (default 10): what voxmux costs beside the bare minimum, as ratios. Parts are
 * start, film, master, segment and memory; all by default.
 *
 * The service answers at once with the sound 6 dB quieter, which a run before the measured ones has prepared. Only the
 * client is measured so. A film of 1080p with AAC is compared with the two ffmpeg commands that a person would type: cut
 * the audio out, and mux it back with one encode. A master with PCM is compared with `cp` and the decoding of its sound,
 * and so is a segment of 30 s in a longer film. If the sound comes back as it was, the film is copied: a row of its own.
 * Processor time is that of a whole tree of processes. On a busy machine it is the figure to trust.
 */
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { FaultServer } from '../helpers/fault-server.js'
import { CLI_PATH, startCli } from '../helpers/voxmux-cli.js'
import { makeLongFilm } from './long-film.js'
import { peakMemoryMb, timedSec } from './measure.js'
import { endedChildrenSec } from './processor-use.js'

const ROUNDS = 3
const STARTS = 15
const SEGMENT_MINUTES = 120

/** What something took. */
interface Cost {
  readonly wallSec: number
  readonly processorSec: number
}

const minutes = Number(process.argv[3] ?? 10)
const wanted = process.argv.slice(4)
const isWanted = (part: string) => wanted.length === 0 || wanted.includes(part)
const dir = mkdtempSync(join(tmpdir(), 'voxmux-bench-'))
const peaksMb: number[] = []
/** Quieter voices, by the size of what was sent. */
const answers = new Map<number, string>()
/** Runs whose answers are among them. */
const prepared = new Set<string>()
try {
  if (isWanted('start')) await measureStart()
  const film = makeLongFilm(dir, minutes)
  if (isWanted('film')) await measureFilm(film)
  if (isWanted('master')) await measureMaster(film)
  if (isWanted('segment')) await measureSegment()
  if (isWanted('memory')) await measureMemory(film, makeLongFilm(dir, minutes * 10))
} finally {
  rmSync(dir, { recursive: true, force: true })
}

async function measureFilm(film: string): Promise<void> {
  const bare = await medianCost(() => spent(() => twoBareCommands(film)))
  for (const level of ['fast', 'full'] as const) {
    const own = await medianCost(() => runVoxmux(film, ['--verify', level]))
    say(`${minutes} minutes, --verify ${level}, over two bare ffmpeg`, own, bare, { wall: 0.8, processor: 1.2 })
  }
  const same = await medianCost(() => runVoxmux(film, ['--verify', 'full'], 'same'))
  say(`${minutes} minutes that come back as they were, over two bare ffmpeg`, same, bare, { wall: 0.8, processor: 1.2 })
}

async function measureStart(): Promise<void> {
  const node = (args: readonly string[]) => () => run(process.execPath, args)
  const bare = await medianCost(() => spent(node(['-e', '0'])), STARTS)
  const help = await medianCost(() => spent(node([CLI_PATH, '--help'])), STARTS)
  say('voxmux --help over node -e 0', help, bare, { wall: 3, processor: 3 })
}

/** The film's picture with 24-bit PCM, which is replaced in place. */
async function measureMaster(film: string): Promise<void> {
  const master = join(dir, 'master.mov')
  ffmpeg('-i', film, '-c:v', 'copy', '-c:a', 'pcm_s24le', master)
  const bare = await medianCost(() => spent(() => copyAndDecode(master)))
  const own = await medianCost(() => runVoxmux(master, ['--verify', 'full']))
  rmSync(master)
  say(`${minutes} minutes of PCM master, over cp and decoding`, own, bare, { wall: 1.3 })
}

async function measureSegment(): Promise<void> {
  const film = makeLongFilm(dir, SEGMENT_MINUTES)
  const bare = await medianCost(() => spent(() => copy(film)))
  const own = await medianCost(() => runVoxmux(film, ['--segment', '60-90', '--verify', 'full']))
  rmSync(film)
  say(`30 s in ${SEGMENT_MINUTES} minutes, over cp`, own, bare, { wall: 1.5 })
  process.stdout.write(`peak memory of node with a segment: ${peaksMb.at(-1)} MB (at most 200)\n`)
}

async function measureMemory(shortFilm: string, longFilm: string): Promise<void> {
  const peakOf = async (film: string) => {
    await runVoxmux(film, ['--verify', 'full'])
    return peaksMb.at(-1) ?? Number.NaN
  }
  const [short, long] = [await peakOf(shortFilm), await peakOf(longFilm)]
  process.stdout.write(`peak memory of node: ${short} MB, for ten times the length ${long} MB (at most 200)\n`)
}

function twoBareCommands(film: string): void {
  const voice = join(dir, 'voice.flac')
  const output = join(dir, 'bare.mp4')
  ffmpeg('-i', film, '-vn', '-c:a', 'flac', voice)
  ffmpeg('-i', film, '-i', voice, '-map', '0:v', '-map', '1:a', '-c:v', 'copy', '-c:a', 'aac', '-b:a', '128k', output)
  for (const path of [voice, output]) rmSync(path)
}

function copyAndDecode(master: string): void {
  copy(master)
  ffmpeg('-i', master, '-map', '0:a', '-f', 'null', '-')
}

/** `cp`, without the reflink that would copy nothing. */
function copy(path: string): void {
  const to = join(dir, 'copy')
  if (process.platform === 'linux') run('cp', ['--reflink=never', path, to])
  else copyFileSync(path, to)
  rmSync(to)
}

function ffmpeg(...args: readonly string[]): void {
  run('ffmpeg', ['-nostdin', '-v', 'error', '-y', ...args])
}

function run(program: string, args: readonly string[]): void {
  const { status, stderr } = spawnSync(program, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  if (status !== 0) throw new Error(`${program} ended with ${status}: ${stderr}`)
}

/** The cost of programs that end before the work does. */
async function spent(work: () => unknown): Promise<Cost> {
  const before = endedChildrenSec()
  const wallSec = await timedSec(work)
  return { wallSec, processorSec: endedChildrenSec() - before }
}

/** A voice 6 dB quieter, in a file that stays for later runs. */
async function quieter(voice: string): Promise<string> {
  const { size } = statSync(voice)
  const known = answers.get(size)
  if (known !== undefined) return known
  const answer = join(dir, `answer-${answers.size}.flac`)
  ffmpeg('-i', voice, '-af', 'volume=0.5:precision=fixed', answer)
  answers.set(size, answer)
  return answer
}

/** {@link runOnce}, with an answer that is prepared in a run before the first one. */
async function runVoxmux(
  film: string,
  options: readonly string[],
  comesBack: 'quieter' | 'same' = 'quieter',
): Promise<Cost> {
  const key = [film, comesBack, ...options].join(' ')
  if (!prepared.has(key)) await runOnce(film, options, comesBack)
  prepared.add(key)
  return runOnce(film, options, comesBack)
}

/** Runs the built command with an empty state folder, and notes its peak memory. The service is in this process. */
async function runOnce(film: string, options: readonly string[], comesBack: 'quieter' | 'same'): Promise<Cost> {
  const stateDir = mkdtempSync(join(dir, 'state-'))
  const output = join(stateDir, `out${extname(film)}`)
  const server = await FaultServer.start({
    states: [{ status: 'Succeeded', errorCode: 0, progress: 100 }],
    ...(comesBack === 'quieter' && { regenerate: quieter }),
  })
  try {
    return await spent(async () => {
      const args = ['run', film, '-o', output, '--progress', 'none', ...options]
      const { child, ended } = startCli(args, { cwd: dir, env: { ...server.env, VOXMUX_STATE_DIR: stateDir } })
      const [result, peakMb] = await Promise.all([ended, peakMemoryMb(child)])
      if (result.exitCode !== 0) throw new Error(`voxmux ended with ${result.exitCode}: ${result.stderr}`)
      peaksMb.push(peakMb)
    })
  } finally {
    await server.close()
    rmSync(stateDir, { recursive: true, force: true })
  }
}

/** Middle of several measurements, wall and processor time each for itself. */
async function medianCost(measure: () => Promise<Cost>, rounds = ROUNDS): Promise<Cost> {
  const costs: Cost[] = []
  for (let round = 0; round < rounds; round++) costs.push(await measure())
  const middle = (values: readonly number[]) => [...values].sort((a, b) => a - b)[rounds >> 1] ?? Number.NaN
  return {
    wallSec: middle(costs.map(({ wallSec }) => wallSec)),
    processorSec: middle(costs.map(({ processorSec }) => processorSec)),
  }
}

function say(
  what: string,
  own: Cost,
  bare: Cost,
  limits: { readonly wall: number; readonly processor?: number },
): void {
  const part = (name: string, a: number, b: number, limit: number | undefined) => {
    const verdict = limit === undefined ? '' : a / b <= limit ? `, within ${limit}` : `, OVER ${limit}`
    return `${name} ${(a / b).toFixed(2)} x (${a.toFixed(2)} over ${b.toFixed(2)} s${verdict})`
  }
  const wall = part('wall', own.wallSec, bare.wallSec, limits.wall)
  const processor = part('processor', own.processorSec, bare.processorSec, limits.processor)
  process.stdout.write(`${what}: ${wall}, ${processor}\n`)
}
