import { VOICE_SAMPLE_RATE, type VoicePool } from '../../../src/voice/index.js'
import { regenerated } from '../../helpers/sound/regenerated.js'
import { resample } from './resample.js'
import { siSdr } from './si-sdr.js'
import { spectralDistance } from './spectral-distance.js'
import type { SpeechPair } from './speech-pairs.js'
import { stoi } from './stoi.js'

export interface VoiceScore {
  readonly name: string
  readonly noisySiSdr: number
  readonly siSdr: number
  readonly noisyStoi: number
  readonly stoi: number
  readonly spectralDb: number
  /** The clean file fed in, against itself. */
  readonly cleanSiSdr: number
}

/** How near a sound comes to the clean file. */
export interface Likeness {
  readonly siSdr: number
  readonly stoi: number
  readonly spectralDb: number
}

/** What the engine makes of a pair, at the pair's own rate. */
export async function judgeVoice(pair: SpeechPair, pool: VoicePool): Promise<VoiceScore> {
  const { clean, noisy, sampleRate, name } = pair
  const [fromNoisy, fromClean] = await Promise.all([through(noisy, sampleRate, pool), through(clean, sampleRate, pool)])
  return {
    name,
    noisySiSdr: siSdr(clean, noisy),
    noisyStoi: stoi(clean, noisy, sampleRate),
    ...judgeSound(pair, fromNoisy),
    cleanSiSdr: siSdr(clean, fromClean),
  }
}

/** How near any sound comes to the pair's clean file. */
export function judgeSound({ clean, sampleRate }: SpeechPair, sound: Float32Array): Likeness {
  return {
    siSdr: siSdr(clean, sound),
    stoi: stoi(clean, sound, sampleRate),
    spectralDb: spectralDistance(clean, sound),
  }
}

/** The mean of one figure over all scores. */
export function meanOf<Figure extends string>(
  scores: readonly Readonly<Record<Figure, number>>[],
  figure: Figure,
): number {
  return scores.reduce((sum, score) => sum + score[figure], 0) / scores.length
}

/** A sound as the engine returns it, at the same rate. */
export async function through(samples: Float32Array, sampleRate: number, pool: VoicePool): Promise<Float32Array> {
  const input = resample(samples, sampleRate, VOICE_SAMPLE_RATE)
  return resample(await regenerated(input, { pool }), VOICE_SAMPLE_RATE, sampleRate).slice(0, samples.length)
}
