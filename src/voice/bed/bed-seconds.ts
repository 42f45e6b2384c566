import { type BlockPlan, cutBlocks } from '../block-plan.js'
import { BED_HOP_SEC, findBed } from './find-bed.js'
import { TONE_RATE } from './steady-tones.js'

/** As for the engine, so that both find the same beds. */
const PLAN: BlockPlan = { blockSamples: 60 * TONE_RATE, beforeSamples: 5.6 * TONE_RATE, afterSamples: 3.2 * TONE_RATE }

/** Measures for how many seconds music plays under a voice. @param buffers mono 32-bit floats at {@link TONE_RATE} */
export async function bedSeconds(buffers: AsyncIterable<Uint8Array>): Promise<number> {
  let places = 0
  for await (const { channels, innerStart, innerEnd } of cutBlocks(buffers, 1, PLAN)) {
    const [sound = new Float32Array(0)] = channels
    const place = (sample: number) => Math.ceil(sample / TONE_RATE / BED_HOP_SEC)
    const bed = findBed(sound).subarray(place(innerStart), place(innerEnd))
    places += bed.filter((value) => value >= 0.5).length
  }
  return places * BED_HOP_SEC
}
