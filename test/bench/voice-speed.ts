import { availableParallelism } from 'node:os'
import { VOICE_SAMPLE_RATE, VoicePool } from '../../src/voice/index.js'
import { Rnnoise } from '../../src/voice/rnnoise.js'
import { noisySpeech } from '../helpers/sound/made-speech.js'
import { regenerated } from '../helpers/sound/regenerated.js'
import { timedSec } from './measure.js'

/** How fast the engine is, as ratios: of medians over rounds in which all take their turn, so that load cancels out. */
export interface VoiceSpeed {
  readonly soundSec: number
  /** Seconds of work a second of sound. */
  readonly bareModel: number
  /** One thread against the bare model. */
  readonly oneAgainstBare: number
  /** All workers against one. */
  readonly allAgainstOne: number
  readonly workers: number
}

/** Over so much sound (a block is a minute), so many times. */
export async function measureVoiceSpeed(soundSec: number, rounds: number): Promise<VoiceSpeed> {
  const { noisy } = noisySpeech(soundSec * VOICE_SAMPLE_RATE, { noiseGain: 0.1, seed: 9 })
  const workers = availableParallelism()
  const model = await Rnnoise.load()
  await using one = new VoicePool({ workers: 1 })
  await using all = new VoicePool({ workers })
  const through = (pool: VoicePool, samples = noisy) =>
    timedSec(() => regenerated(samples, { pool, bufferBytes: 1 << 18 }))
  model.run(noisy.subarray(0, VOICE_SAMPLE_RATE))
  for (const pool of [one, all])
    await Promise.all(Array.from({ length: workers }, () => through(pool, noisy.slice(0, 48_000))))

  const bareSec: number[] = []
  const oneSec: number[] = []
  const allSec: number[] = []
  for (let round = 0; round < rounds; round++) {
    bareSec.push(await timedSec(() => model.run(noisy)))
    oneSec.push(await through(one))
    allSec.push(await through(all))
  }
  const ratios = (a: readonly number[], b: readonly number[]) => middle(a.map((value, i) => value / (b[i] ?? 1)))
  return {
    soundSec,
    workers,
    bareModel: middle(bareSec) / soundSec,
    oneAgainstBare: ratios(oneSec, bareSec),
    allAgainstOne: ratios(oneSec, allSec),
  }
}

function middle(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}
