/** `npm run bench:voice`: quality over pairs of speech, speed against the bare model, one worker against several. */
import { availableParallelism } from 'node:os'
import { VOICE_SAMPLE_RATE, VoicePool } from '../../src/voice/index.js'
import { regenerate } from '../../src/voice/regenerate.js'
import { Rnnoise } from '../../src/voice/rnnoise.js'
import { noisySpeech } from '../helpers/made-speech.js'
import { floatsOf, inChunks } from '../helpers/pcm-chunks.js'
import { judgeVoice, meanOf, type VoiceScore } from './judge-voice.js'
import { NO_SPEECH, readSpeechPairs } from './speech-pairs.js'

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

async function speed(): Promise<void> {
  const seconds = Number(process.env.VOXMUX_BENCH_SEC ?? 240)
  const { noisy } = noisySpeech(seconds * VOICE_SAMPLE_RATE, { noiseGain: 0.1, seed: 9 })
  const model = await Rnnoise.load()
  model.run(noisy.subarray(0, VOICE_SAMPLE_RATE))
  const bareMs = await timed(async () => void model.run(noisy))
  const oneMs = await timedPool(noisy, 1)
  const cores = availableParallelism()
  const allMs = await timedPool(noisy, cores)
  say(`\nSpeed over ${seconds} s of mono sound:`)
  say(`- the bare model: ${(bareMs / 1000 / seconds).toFixed(4)} s a second of sound`)
  say(`- the engine in one thread: ${(oneMs / bareMs).toFixed(2)} times the bare model (target: at most 1.3)`)
  say(`- ${cores} workers on ${cores} cores: ${(oneMs / allMs).toFixed(2)} times as fast as one`)
}

async function timedPool(samples: Float32Array, workers: number): Promise<number> {
  await using pool = new VoicePool({ workers })
  const run = (part: Float32Array) =>
    floatsOf(regenerate({ channelCount: 1, chunks: inChunks(part, 1 << 18) }, { pool }))
  await run(samples.slice(0, VOICE_SAMPLE_RATE))
  return await timed(async () => void (await run(samples)))
}

async function timed(work: () => Promise<void>): Promise<number> {
  const start = performance.now()
  await work()
  return performance.now() - start
}

await quality()
await speed()
