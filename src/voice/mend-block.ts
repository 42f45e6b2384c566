import { type Block, SAMPLE_RATE } from './block-plan.js'
import { limitPeaks } from './limit-peaks.js'
import type { MaskSettings } from './mask-settings.js'
import { measureBackground } from './noisiness.js'
import { applyMask, WINDOW_SAMPLES } from './spectral-mask.js'

/** How long a model's recurrent state takes to forget where it began. A multiple of hop and frame. */
export const WARM_UP_SAMPLES = 3.2 * SAMPLE_RATE

/**
 * What every engine does with a block: a model hears each channel (from {@link WARM_UP_SAMPLES} before the block on),
 * and the gain of what it says is laid on the original with as much strength as the background asks for.
 *
 * @param model gives a channel back, of the same length and in the same place
 * @returns the block alone
 */
export async function mendBlock(
  { channels, innerStart, innerEnd }: Block,
  settings: MaskSettings,
  model: (channel: Float32Array) => Promise<Float32Array> | Float32Array,
): Promise<Float32Array<ArrayBuffer>[]> {
  const length = channels[0]?.length ?? 0
  const background = measureBackground(channels)
  const modelStart = Math.max(0, innerStart - WARM_UP_SAMPLES)
  // The mask's windows reach so far over both ends of the block.
  const maskStart = Math.max(0, innerStart - WINDOW_SAMPLES)
  const maskEnd = Math.min(length, innerEnd + WINDOW_SAMPLES)

  const voices: Float32Array[] = []
  for (const channel of channels) voices.push(await model(channel.subarray(modelStart, maskEnd)))
  const original = channels.map((channel) => channel.subarray(maskStart, maskEnd))
  const masked = applyMask(
    original,
    voices.map((voice) => voice.subarray(maskStart - modelStart)),
    settings,
    (sample) => strengthAt(background(maskStart + sample), settings),
  )
  limitPeaks(masked, original)
  return masked.map((channel) => channel.slice(innerStart - maskStart, innerEnd - maskStart))
}

/** 0 where the background is so low that mending would only harm, 1 where it is not, smooth between. */
function strengthAt(backgroundDb: number, { cleanDb, noisyDb }: MaskSettings): number {
  const x = Math.min(1, Math.max(0, (backgroundDb - cleanDb) / (noisyDb - cleanDb)))
  return x * x * (3 - 2 * x)
}
