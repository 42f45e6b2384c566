/**
 * `npm run bench:voice`: quality over pairs of speech, synthetic noise, the price of noisy parts, clipped peaks,
 * made rooms, and the speed. Names of sections after `--` run only these: `npm run bench:voice -- quality parts`.
 */
import { VoicePool } from '../../src/voice/index.js'
import { loadBareModels } from './voice-quality/bare-models.js'
import { judgePeaks } from './voice-quality/judge-peaks.js'
import { judgeRoom, type RoomScore } from './voice-quality/judge-rooms.js'
import { judgeSound, judgeVoice, type Likeness, meanOf, type VoiceScore } from './voice-quality/judge-voice.js'
import { makeNoise, mixAt, NOISE_KINDS } from './voice-quality/made-noise.js'
import { measureParts } from './voice-quality/noisy-parts.js'
import { NO_SPEECH, readSpeechPairs } from './voice-quality/speech-pairs.js'
import { measureVoiceSpeed } from './voice-speed.js'

const say = (text: string): void => {
  process.stdout.write(`${text}\n`)
}

async function quality(): Promise<void> {
  if (NO_SPEECH) {
    say(`Quality not measured: ${NO_SPEECH}.`)
    return
  }
  await using pool = new VoicePool()
  const models = await loadBareModels()
  const rows: { name: string; score: VoiceScore; others: readonly Likeness[] }[] = []
  say('SI-SDR dB / STOI / log-spectral distance dB (less is better), against the clean file:\n')
  say('| pair | noisy | bare RNNoise | bare GTCRN | the engine | clean in, SI-SDR dB |')
  say('|---|---|---|---|---|---|')
  for (const pair of await readSpeechPairs()) {
    const { noisy, sampleRate, name } = pair
    const others = [noisy, models.rnnoise(noisy, sampleRate), models.gtcrn(noisy, sampleRate)]
    const score = await judgeVoice(pair, pool)
    rows.push({ name, score, others: others.map((sound) => judgeSound(pair, sound)) })
    const last = rows.at(-1)
    if (last) say(row(name, [...last.others, score], score.cleanSiSdr))
  }
  const mean = (likenesses: readonly Likeness[]): Likeness => ({
    siSdr: meanOf(likenesses, 'siSdr'),
    stoi: meanOf(likenesses, 'stoi'),
    spectralDb: meanOf(likenesses, 'spectralDb'),
  })
  const columns = [0, 1, 2].map((i) => mean(rows.flatMap(({ others }) => others[i] ?? [])))
  const scores = rows.map(({ score }) => score)
  say(row('**mean**', [...columns, mean(scores)], meanOf(scores, 'cleanSiSdr')))
}

function row(name: string, likenesses: readonly Likeness[], cleanDb: number): string {
  const cells = likenesses.map(
    ({ siSdr, stoi, spectralDb }) => `${siSdr.toFixed(1)} / ${stoi.toFixed(3)} / ${spectralDb.toFixed(1)}`,
  )
  return `| ${[name, ...cells, cleanDb > 100 ? 'to the bit' : cleanDb.toFixed(1)].join(' | ')} |`
}

/** Made noises over recorded speech, one row a kind, at 0, 5, 10 and 20 dB; two clips, one at each rate. */
async function robustness(): Promise<void> {
  const pairs = NO_SPEECH ? [] : await readSpeechPairs()
  const judged = [16_000, 48_000].flatMap((rate) => pairs.find(({ sampleRate }) => sampleRate === rate) ?? [])
  if (judged.length === 0) return
  await using pool = new VoicePool()
  say('\n| noise | SNR | SI-SDR in | out | STOI in | out |')
  say('|---|---|---|---|---|---|')
  for (const kind of NOISE_KINDS) {
    for (const snrDb of [0, 5, 10, 20]) {
      const scores = await Promise.all(
        judged.map((pair) => {
          const { clean, sampleRate } = pair
          const others = pairs.filter((other) => other !== pair && other.sampleRate === sampleRate).map((p) => p.clean)
          const noise = makeNoise(kind, clean.length, { sampleRate, seed: snrDb + 1, others })
          return judgeVoice({ ...pair, noisy: mixAt(snrDb, clean, noise) }, pool)
        }),
      )
      const mean = (figure: 'noisySiSdr' | 'siSdr' | 'noisyStoi' | 'stoi') => meanOf(scores, figure)
      const sdr = [mean('noisySiSdr'), mean('siSdr')].map((value) => value.toFixed(1))
      const heard = [mean('noisyStoi'), mean('stoi')].map((value) => value.toFixed(3))
      say(`| ${[kind, `${snrDb} dB`, ...sdr, ...heard].join(' | ')} |`)
    }
  }
}

/** What `--only-noisy` pays, and what it gives away. */
async function parts(): Promise<void> {
  if (NO_SPEECH) return
  await using pool = new VoicePool()
  const results = await measureParts(await readSpeechPairs(), pool)
  say('\n| in noise | paid | whole: SI-SDR / STOI | parts: SI-SDR / STOI |')
  say('|---|---|---|---|')
  for (const { noisyShare, paidSec, totalSec, whole, parts } of results) {
    const cell = ({ siSdr, stoi }: typeof whole) => `${siSdr.toFixed(1)} / ${stoi.toFixed(3)}`
    say(
      `| ${100 * noisyShare} % | ${paidSec.toFixed(1)} s of ${totalSec.toFixed(1)} s | ${cell(whole)} | ${cell(parts)} |`,
    )
  }
  const sum = (figure: 'paidSec' | 'totalSec') => results.reduce((all, result) => all + result[figure], 0)
  say(`\nSaved: ${(100 * (1 - sum('paidSec') / sum('totalSec'))).toFixed(0)} % of all seconds.`)
}

/** Clean recordings that were clipped, before and after. */
async function peaks(): Promise<void> {
  const sounds = NO_SPEECH ? [] : (await readSpeechPairs()).filter(({ sampleRate }) => sampleRate === 48_000)
  if (sounds.length === 0) return
  say('\n| share of samples clipped | SI-SDR, clipped | restored |')
  say('|---|---|---|')
  for (const share of [0.02, 0.1, 0.25]) {
    const scores = sounds.map(({ clean }) => judgePeaks(clean, share))
    const mean = (figure: 'before' | 'after') => `${meanOf(scores, figure).toFixed(1)} dB`
    say(`| ${100 * share} % | ${mean('before')} | ${mean('after')} |`)
  }
}

/** Clean recordings in made rooms, and what is left of the reverberation. */
async function rooms(): Promise<void> {
  if (NO_SPEECH) return
  const pairs = await readSpeechPairs()
  await using pool = new VoicePool()
  say('\n| reverberation | noise | in the room | the engine |')
  say('|---|---|---|---|')
  for (const snrDb of [null, 15]) {
    for (const t60Sec of [0.3, 0.5, 0.8]) {
      const columns: RoomScore[][] = []
      for (const pair of pairs) columns.push(await judgeRoom(pair, { t60Sec, snrDb }, pool))
      const cells = [0, 1].map((i) => {
        const scores = columns.flatMap((column) => column[i] ?? [])
        const mean = (figure: keyof RoomScore, digits: number) => meanOf(scores, figure).toFixed(digits)
        return [mean('siSdr', 1), mean('stoi', 3), mean('spectralDb', 1), mean('srmr', 1)].join(' / ')
      })
      say(`| ${[`${t60Sec} s`, snrDb === null ? 'none' : `${snrDb} dB`, ...cells].join(' | ')} |`)
    }
  }
}

async function speed(): Promise<void> {
  const speed = await measureVoiceSpeed(Number(process.env.VOXMUX_BENCH_SEC ?? 240), 5)
  say(`\nSpeed over ${speed.soundSec} s of mono sound, medians of ratios:`)
  say(`- bare RNNoise: ${speed.bareModel.toFixed(4)} s a second of sound`)
  say(`- the engine in one thread: ${speed.oneAgainstBare.toFixed(2)} times bare RNNoise (target: at most 3)`)
  say(`- ${speed.workers} workers: ${speed.allAgainstOne.toFixed(2)} times as fast as one`)
}

const SECTIONS = { quality, robustness, parts, peaks, rooms, speed }
const wanted = process.argv.slice(2)
for (const [name, run] of Object.entries(SECTIONS)) if (wanted.length === 0 || wanted.includes(name)) await run()
