/**
 * Where the thresholds of `src/media/align/align-voice.ts` come from: answers as services give them, right and wrong, over
 * real speech in noise. Prints how far right and wrong lie apart, and what `alignVoice` decides.
 *
 *   npx tsx test/bench/alignment-calibration.ts [words of a kind]    (VOXMUX_SPEECH_DIR, default ../shared/speech)
 */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { alignVoice } from '../../src/media/align/align-voice.js'
import { unpackSound } from '../../src/media/align/unpack-sound.js'
import { audioStreams } from '../../src/media/media-info.js'
import { probe } from '../../src/media/probe/probe.js'
import type { VoiceCut } from '../../src/media/voice-cut.js'
import { processFile } from '../../src/service/engine/process-file.js'
import { VoicePool } from '../../src/voice/index.js'

const speechDir = process.env.VOXMUX_SPEECH_DIR ?? fileURLToPath(new URL('../../../shared/speech', import.meta.url))
const run = promisify(execFile)
const ffmpeg = (...args: readonly string[]) => run('ffmpeg', ['-v', 'error', '-nostdin', '-y', ...args])

/** One kind of answer: how it is made of the pair (and of a stranger), and the lag in ms that is right for it. */
interface AnswerKind {
  readonly name: string
  /** Right lag in ms, or null where the answer must be refused. */
  readonly lagMs: number | null
  readonly inputs: (pair: Pair, stranger: Pair) => readonly string[]
  readonly filter: string
  readonly output?: { readonly extension: string; readonly options: readonly string[] }
}

interface Pair {
  readonly name: string
  readonly noisy: string
  readonly clean: string
  /** The noisy one as the embedded service's own engine answers. */
  readonly regenerated: string
}

const clean = ({ clean }: Pair) => [clean]
const noisy = ({ noisy }: Pair) => [noisy]
const regenerated = ({ regenerated }: Pair) => [regenerated]
const right = (name: string, filter: string, lagMs = 0, inputs: AnswerKind['inputs'] = clean): AnswerKind => ({
  name,
  filter,
  lagMs,
  inputs,
})
const wrong = (name: string, filter: string, inputs: AnswerKind['inputs'] = clean): AnswerKind => ({
  name,
  filter,
  lagMs: null,
  inputs,
})
const coded = (name: string, extension: string, ...options: readonly string[]): AnswerKind => ({
  ...right(name, '[0]anull'),
  output: { extension, options },
})
/** The same sound, but late from the middle on. */
const jump = (ms: number) =>
  `[0]asplit[a][b];[a]atrim=end=1[x];[b]atrim=start=${1 - ms / 1000},asetpts=PTS-STARTPTS[y];[x][y]concat=n=2:v=0:a=1`
// The filter is three quarters of its window late.
const phases = (real: string, imag: string) =>
  `[0]afftfilt=real='${real}':imag='${imag}':win_size=WINDOW:overlap=0.75,atrim=start_sample=LATE,asetpts=PTS-STARTPTS`

const KINDS: readonly AnswerKind[] = [
  right('clean', '[0]anull'),
  right('as sent', '[0]anull', 0, noisy),
  right('quieter by 20 dB', '[0]volume=-20dB'),
  right('inverted', '[0]volume=-1', 0, noisy),
  right('equalised', '[0]equalizer=f=1000:t=q:w=1:g=6,equalizer=f=4000:t=q:w=2:g=-6'),
  right('band of a telephone', '[0]highpass=f=250,lowpass=f=3600'),
  right('compressed', '[0]acompressor=threshold=0.03:ratio=6:attack=5:release=80:makeup=4'),
  right('afftdn (25 ms late)', '[0]afftdn=nr=20', 25, noisy),
  right('late by 1 sample in 48000', '[0]adelay=48S:all=1', -1),
  right('late by 25 ms', '[0]adelay=25:all=1', 25),
  right('late by 500 ms', '[0]adelay=500:all=1', 500),
  right('early by 120 ms', '[0]atrim=start=0.12,asetpts=PTS-STARTPTS', -120),
  right('at 16 kHz', '[0]aresample=16000'),
  right('at 44.1 kHz', '[0]aresample=44100'),
  right('in stereo', '[0]pan=stereo|c0=c0|c1=c0'),
  coded('MP3 of 64 kbit/s', 'mp3', '-b:a', '64k'),
  coded('Opus of 32 kbit/s', 'opus', '-c:a', 'libopus', '-b:a', '32k'),
  coded('AAC of 64 kbit/s', 'm4a', '-c:a', 'aac', '-b:a', '64k'),
  right('made anew (whispered)', phases('hypot(re,im)*cos(random(0)*2*PI)', 'hypot(re,im)*sin(random(1)*2*PI)')),
  right('by the embedded engine', '[0]anull', 0, regenerated),
  right('by the engine, late by 25 ms', '[0]adelay=25:all=1', 25, regenerated),
  wrong('by the engine, 5 ms late from 1 s', jump(5), regenerated),
  wrong('by the engine, another file', '[0]anull', (_, stranger) => [stranger.regenerated]),
  wrong('another file', '[0]anull', (_, stranger) => [stranger.clean]),
  wrong(
    'another file, whispered',
    phases('hypot(re,im)*cos(random(0)*2*PI)', 'hypot(re,im)*sin(random(1)*2*PI)'),
    (_, stranger) => [stranger.clean],
  ),
  wrong('5 ms late from 1 s on', jump(5)),
  wrong('20 ms late from 1 s on', jump(20)),
  wrong('5 ms late from 1 s on, noisy', jump(5), noisy),
  wrong('slower by 0.5 %', '[0]asetrate=RATE*0.995,aresample=RATE'),
  wrong(
    'second half another file',
    '[0]atrim=end=1[x];[1]atrim=start=1,asetpts=PTS-STARTPTS[y];[x][y]concat=n=2:v=0:a=1',
    (pair, stranger) => [pair.clean, stranger.clean],
  ),
  wrong('last half missing', '[0]atrim=end=1'),
  wrong('silent', '[0]volume=0'),
  wrong('noise', '[0]anull', () => ['noise']),
]

async function pairs(folder: string): Promise<readonly Pair[]> {
  const names = (await readdir(speechDir))
    .filter((name) => name.endsWith('_clean.wav'))
    .map((name) => name.slice(0, -10))
  await using pool = new VoicePool()
  const all: Pair[] = []
  for (const name of names) {
    const noisy = join(speechDir, `${name}_noisy.wav`)
    const regenerated = join(folder, `${name}.regenerated.flac`)
    await processFile({ input: noisy, output: regenerated, outputType: 'flac', pool })
    all.push({ name, noisy, regenerated, clean: join(speechDir, `${name}_clean.wav`) })
  }
  return all
}

/** A cut as the pipeline makes it: lossless, the noisy voice whole. */
async function cutOf({ name, noisy }: Pair, folder: string): Promise<VoiceCut> {
  const path = join(folder, `${name}.flac`)
  await ffmpeg('-i', noisy, path)
  const media = await probe(path)
  const stream = audioStreams(media)[0]
  if (!stream) throw new Error(`${path} has no sound`)
  const sampleCount = Math.round((media.durationSec ?? 0) * stream.sampleRate)
  const range = { startSample: 0, endSample: sampleCount }
  const format = { sampleRate: stream.sampleRate, channels: 1, channelLayout: 'mono', sample: 's16' } as const
  const pcm = await unpackSound({ path, filters: [], format, signal: undefined }, `${path}.pcm`)
  return {
    request: { audioIndex: 0, channels: { kind: 'all' }, range, targetWithoutExtension: path },
    ...{ path, format: 'flac', sampleRate: stream.sampleRate, channels: 1, channelLayout: 'mono' },
    ...{ range, sampleCount, sizeBytes: media.sizeBytes, voiceHash: '', pcm },
  }
}

async function answerOf(kind: AnswerKind, cut: VoiceCut, pair: Pair, stranger: Pair, folder: string): Promise<string> {
  const path = join(folder, `answer.${kind.output?.extension ?? 'flac'}`)
  const inputs = kind
    .inputs(pair, stranger)
    .flatMap((input) =>
      input === 'noise' ? ['-f', 'lavfi', '-i', `anoisesrc=c=pink:a=0.1:d=3:r=${cut.sampleRate}`] : ['-i', input],
    )
  const window = cut.sampleRate > 20_000 ? 512 : 256
  const numbers = { RATE: cut.sampleRate, WINDOW: window, LATE: 0.75 * window }
  const filter = Object.entries(numbers).reduce(
    (text, [name, value]) => text.replaceAll(name, String(value)),
    kind.filter,
  )
  const graph = `${filter}[out]`
  await ffmpeg(...inputs, '-filter_complex', graph, '-map', '[out]', ...(kind.output?.options ?? []), path)
  return path
}

/** What alignVoice makes of every pair's answer of one kind: a line of the table, and whether all was as it must be. */
async function calibrate(kind: AnswerKind, all: readonly Pair[], folder: string): Promise<boolean> {
  const matches: number[] = []
  const offMs: number[] = []
  const methods = new Set<string>()
  let mistakes = 0
  for (const [index, pair] of all.entries()) {
    const cut = await cutOf(pair, folder)
    const stranger = all[(index + 1) % all.length] as Pair
    const answer = await answerOf(kind, cut, pair, stranger, folder)
    try {
      const { lagSamples, match, method } = await alignVoice(cut, answer)
      const rightMs = kind.lagMs === -1 ? (48 / cut.sampleRate) * 1000 : kind.lagMs
      const off = rightMs === null ? Number.NaN : (lagSamples / cut.sampleRate) * 1000 - rightMs
      matches.push(match)
      offMs.push(Math.abs(off))
      methods.add(method)
      if (!(Math.abs(off) <= (method === 'envelope' ? 2 : 1))) mistakes += 1
    } catch (error) {
      methods.add((error as { code?: string }).code ?? String(error))
      if (kind.lagMs !== null) mistakes += 1
    }
  }
  const match = matches.length > 0 ? `${Math.min(...matches).toFixed(2)} … ${Math.max(...matches).toFixed(2)}` : '-'
  const off = offMs.length > 0 ? Math.max(...offMs).toFixed(3) : '-'
  const verdict = mistakes === 0 ? 'ok' : `${mistakes} of ${all.length} WRONG`
  const row = [
    kind.name.padEnd(30),
    kind.lagMs === null ? 'refuse' : 'accept',
    match.padEnd(13),
    off.padEnd(8),
    verdict,
    [...methods].join(' '),
  ]
  process.stdout.write(`${row.join(' | ')}\n`)
  return mistakes === 0
}

if (!existsSync(speechDir)) {
  process.stdout.write(`skipped: no speech in ${speechDir} (set VOXMUX_SPEECH_DIR)\n`)
} else {
  const folder = await mkdtemp(join(tmpdir(), 'voxmux-calibration-'))
  try {
    const all = await pairs(folder)
    process.stdout.write(`${'answer'.padEnd(30)} | must   | weakest match | off (ms) | verdict | method\n`)
    let good = 0
    const wanted = KINDS.filter(({ name }) => name.includes(process.argv[2] ?? ''))
    for (const kind of wanted) good += (await calibrate(kind, all, folder)) ? 1 : 0
    process.stdout.write(`${good} of ${wanted.length} kinds as they must be, over ${all.length} pairs\n`)
    if (good < wanted.length) process.exitCode = 1
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
