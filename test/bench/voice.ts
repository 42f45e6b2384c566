/** `npm run bench:voice`: quality over pairs of speech, speed against the bare model, one worker against several. */
import { VoicePool } from '../../src/voice/index.js'
import { judgeVoice, meanOf, type VoiceScore } from './judge-voice.js'
import { makeNoise, mixAt, NOISE_KINDS } from './made-noise.js'
import { NO_SPEECH, readSpeechPairs } from './speech-pairs.js'
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
  const scores: VoiceScore[] = []
  say('| pair | SI-SDR in | out | gain dB | STOI in | out | clean in, SI-SDR |')
  say('|---|---|---|---|---|---|---|')
  for (const pair of await readSpeechPairs()) {
    const score = await judgeVoice(pair, pool)
    scores.push(score)
    say(row(score.name, score))
  }
  const figures = ['noisySiSdr', 'siSdr', 'noisyStoi', 'stoi', 'cleanSiSdr'] as const
  const means = Object.fromEntries(figures.map((figure) => [figure, meanOf(scores, figure)]))
  say(row('**mean**', means as unknown as VoiceScore))
}

function row(name: string, score: VoiceScore): string {
  const { noisySiSdr, siSdr, noisyStoi, stoi, cleanSiSdr } = score
  const sdr = [noisySiSdr, siSdr, siSdr - noisySiSdr].map((value) => value.toFixed(2))
  return `| ${[name, ...sdr, noisyStoi.toFixed(4), stoi.toFixed(4), cleanSiSdr.toFixed(1)].join(' | ')} |`
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

async function speed(): Promise<void> {
  const speed = await measureVoiceSpeed(Number(process.env.VOXMUX_BENCH_SEC ?? 240), 5)
  say(`\nSpeed over ${speed.soundSec} s of mono sound, medians of ratios:`)
  say(`- the bare model: ${speed.bareModel.toFixed(4)} s a second of sound`)
  say(`- the engine in one thread: ${speed.oneAgainstBare.toFixed(2)} times the bare model (target: at most 1.3)`)
  say(`- ${speed.workers} workers: ${speed.allAgainstOne.toFixed(2)} times as fast as one`)
}

await quality()
await robustness()
await speed()
