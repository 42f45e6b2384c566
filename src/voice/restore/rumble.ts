import { emptyEvidence, strengthOf } from './evidence.js'
import type { EvidenceSettings } from './evidence-settings.js'
import { framesOf, HOP_SAMPLES, HOP_SEC } from './spectral-change.js'

/** Below this no voice speaks. Forward and backward together, the filter takes half of the amplitude here. */
const CORNER_HZ = 40
const SAMPLE_RATE = 48_000

/** Rumble in dB relative to all that is not rumble. Clean recordings lie at −19 dB or below, noisy ones above −12 dB. */
const RUMBLE_SETTINGS: EvidenceSettings = { cleanDb: -14, noisyDb: -10 }

/** The rumble of one channel, and how strongly to take it out. */
export interface Rumble {
  /** The change to add to the channel so that the rumble is gone: the channel's length, full scale 1. */
  readonly change: Float32Array<ArrayBuffer>
  /** Strength of the correction, frame by frame: 0 leaves the sound alone, 1 is full. */
  readonly strength: Float64Array
}

/** Finds the sound below every voice. A constant offset stays. */
export function findRumble(channel: Float32Array): Rumble {
  // A function for each sample would take longer than both filters.
  let sum = 0
  for (const value of channel) sum += value
  const mean = sum / Math.max(1, channel.length)
  const low = new Float64Array(channel)
  for (let i = 0; i < low.length; i++) low[i] = (low[i] ?? 0) - mean
  lowPass(low)
  lowPass(low.reverse())
  low.reverse()

  const frames = framesOf(channel.length)
  const evidence = emptyEvidence(frames)
  for (let frame = 0; frame < frames; frame++) {
    const start = Math.max(0, (frame - 1) * HOP_SAMPLES)
    const end = Math.min(channel.length, (frame + 1) * HOP_SAMPLES)
    let kept = 0
    let removed = 0
    for (let i = start; i < end; i++) {
      const rumble = low[i] ?? 0
      kept += ((channel[i] ?? 0) - mean - rumble) ** 2
      removed += rumble ** 2
    }
    evidence.kept[frame] = kept / Math.max(1, end - start)
    evidence.removed[frame] = removed / Math.max(1, end - start)
  }
  const change = new Float32Array(low.length)
  for (let i = 0; i < low.length; i++) change[i] = -(low[i] ?? 0)
  return { change, strength: strengthOf(evidence, HOP_SEC, RUMBLE_SETTINGS) }
}

/** A Butterworth low-pass of the second order, in place. */
function lowPass(samples: Float64Array): void {
  const k = Math.tan((Math.PI * CORNER_HZ) / SAMPLE_RATE)
  const norm = 1 / (1 + Math.SQRT2 * k + k * k)
  const b = k * k * norm
  const a1 = 2 * (k * k - 1) * norm
  const a2 = (1 - Math.SQRT2 * k + k * k) * norm
  let first = 0
  let second = 0
  for (let i = 0; i < samples.length; i++) {
    const input = samples[i] ?? 0
    const output = b * input + first
    first = 2 * b * input - a1 * output + second
    second = b * input - a2 * output
    samples[i] = output
  }
}
