import type { Block } from '../block-plan.js'
import type { FrameGain } from '../restore/frame-gain.js'
import { likenessOf } from '../restore/likeness.js'
import { limitPeaks } from '../restore/limit-peaks.js'
import { added } from '../restore/mix-samples.js'
import { unprepared } from '../restore/prepare-channel.js'
import type { Listener } from '../restore/restore-block.js'
import { slidingMax, slidingMean } from '../restore/sliding.js'
import { framesOf, HOP_SAMPLES, HOP_SEC, type InputChannel, proposeChanges } from '../restore/spectral-change.js'
import { BedGain } from './bed-gain.js'
import { bedsOf } from './beds-of.js'

/** A bed that is found only for a part of the time is lowered without a gap. */
const HOLD_SEC = 2
/** The level of the music moves as slowly as a hand moves a fader. */
const FADE_SEC = 1
/** Context that a block needs on both sides beside that of the engine, so that neighbours meet. */
export const LOWER_REACH_SEC = 3.2

/** Lowers music under a voice. @returns what to add to the block, channel by channel: exactly 0 without a bed */
export async function lowerBed(block: Block, gain: FrameGain, listen: Listener): Promise<Float32Array<ArrayBuffer>[]> {
  const { channels, innerStart, innerEnd } = block
  const prepared = channels.map(unprepared)
  const likeness = likenessOf(channels, framesOf(channels[0]?.length ?? 0), HOP_SAMPLES, HOP_SEC)
  const lows = prepared.map(({ low }) => low())
  const beds = bedsOf(lows, likeness).map(slowed)
  const original = channels.map((channel) => channel.subarray(innerStart, innerEnd))
  if (beds.every((bed) => bed.every((value) => value === 0)))
    return original.map(({ length }) => new Float32Array(length))
  const heard: InputChannel[] = []
  for (const channel of prepared) heard.push({ original: channel.sound, voices: await listen(channel) })
  // One gain for all channels keeps the place of the music between them.
  const alike = likeness.map((values) => values.map(() => 1))
  const lowered = proposeChanges(heard, new BedGain(gain), alike).map(({ change }, c) =>
    added(original[c] ?? change, change, beds[c] ?? new Float64Array(0), innerStart),
  )
  limitPeaks(lowered, original)
  for (const [c, channel] of lowered.entries()) {
    for (let i = 0; i < channel.length; i++) channel[i] = (channel[i] ?? 0) - (original[c]?.[i] ?? 0)
  }
  return lowered
}

function slowed(bed: Float64Array): Float64Array {
  const frames = (seconds: number) => Math.round(seconds / HOP_SEC)
  // The running sums leave a crumb.
  return slidingMean(slidingMax(bed, frames(HOLD_SEC)), frames(FADE_SEC)).map((value) => (value < 1e-9 ? 0 : value))
}
