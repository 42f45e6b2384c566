import { noisyRanges } from '../../../src/pipeline/plan/ranges-to-send.js'
import { mapVoice, VOICE_SAMPLE_RATE, type VoicePool } from '../../../src/voice/index.js'
import { inBuffers } from '../../helpers/sound/float-buffers.js'
import { regenerated } from '../../helpers/sound/regenerated.js'
import { joined } from './joined.js'
import { makeNoise, mixAt } from './made-noise.js'
import { resample } from './resample.js'
import { siSdr } from './si-sdr.js'
import type { SpeechPair } from './speech-pairs.js'
import { stoi } from './stoi.js'

const HANDLE_SEC = 1
const GAP_SEC = 2 * HANDLE_SEC + 1
/** Share of a file that is in noise; the rest of it is clean. */
const NOISY_SHARES = [0, 0, 0.25, 0.25, 0.5, 1]

/** What one file costs and gives, sent whole and in its noisy parts. */
export interface PartsResult {
  readonly noisyShare: number
  readonly totalSec: number
  readonly paidSec: number
  readonly whole: { readonly siSdr: number; readonly stoi: number }
  readonly parts: { readonly siSdr: number; readonly stoi: number }
}

/** Films of clean speech, each with noise of another kind and level in its first part, sent whole and in parts. */
export async function measureParts(pairs: readonly SpeechPair[], pool: VoicePool): Promise<PartsResult[]> {
  const speech = joined(pairs.map(({ clean, sampleRate }) => resample(clean, sampleRate, VOICE_SAMPLE_RATE)))
  const results: PartsResult[] = []
  for (const [index, noisyShare] of NOISY_SHARES.entries()) {
    const kind = (['white', 'pink', 'brown', 'hum', 'pink', 'clicks'] as const)[index] ?? 'pink'
    const noise = makeNoise(kind, speech.length, { sampleRate: VOICE_SAMPLE_RATE, seed: index + 1, others: [] })
    const noisy = mixAt(5 + 3 * index, speech, noise)
    const film = speech.map((value, i) => (i < noisyShare * speech.length ? (noisy[i] ?? 0) : value))
    results.push({ noisyShare, ...(await measureFilm(film, speech, pool)) })
  }
  return results
}

async function measureFilm(film: Float32Array, clean: Float32Array, pool: VoicePool) {
  const input = () => ({ channelCount: 1, buffers: inBuffers(film, 1 << 20) })
  const whole = await regenerated(film, { pool })
  const ranges = noisyRanges(await mapVoice(input(), { pool }), GAP_SEC)
  const parts = film.slice()
  const totalSec = film.length / VOICE_SAMPLE_RATE
  let paidSec = 0
  for (const { startSec, endSec } of ranges) {
    const from = startSec * VOICE_SAMPLE_RATE
    const to = Math.min(film.length, (endSec ?? totalSec) * VOICE_SAMPLE_RATE)
    parts.set(whole.subarray(from, to), from)
    paidSec += Math.min(totalSec, (endSec ?? totalSec) + HANDLE_SEC) - Math.max(0, startSec - HANDLE_SEC)
  }
  const judged = (sound: Float32Array) => ({
    siSdr: siSdr(clean, sound),
    stoi: stoi(clean, sound, VOICE_SAMPLE_RATE),
  })
  return { totalSec, paidSec, whole: judged(whole), parts: judged(parts) }
}
