import type { Block } from './block-plan.js'
import { FRAME_SAMPLES } from './rnnoise.js'

/** The block's own part of the probabilities of what a model heard from `start` on. */
export function innerProbability(probability: Float32Array, block: Block, start: number): Float32Array<ArrayBuffer> {
  const from = (block.innerStart - start) / FRAME_SAMPLES
  const count = Math.ceil((block.innerEnd - block.innerStart) / FRAME_SAMPLES)
  return Float32Array.from(probability.subarray(from, from + count))
}

/** At each frame the channel that most probably has a voice. */
export function likeliest(channels: readonly Float32Array[]): Float32Array {
  const [first = new Float32Array(0), ...others] = channels
  return others.reduce((best, other) => best.map((value, i) => Math.max(value, other[i] ?? 0)), first)
}
