import { firstAtLeast } from '../first-at-least.js'
import type { SoundFrames } from './frame-splitter.js'

/** The units (PES packets) of a sound. Bytes of the sound count from its first unit on. */
export interface SoundUnits {
  readonly count: number
  /** First byte of the sound in a unit; for `count`, the one behind the last. */
  readonly startOf: (unit: number) => number
  /** In ticks of 90 kHz, which continue when the clock wraps; NaN if none is stated. */
  readonly ticks: (unit: number) => number
}

/** Frames in units that state times. */
export interface TimedFrames {
  readonly units: SoundUnits
  readonly frames: SoundFrames
}

/** Frames of a side file that hold nothing else. */
export interface MadeFrames {
  readonly count: number
  /** First byte of a frame in the side file; for `count`, the one behind the last. */
  readonly startOf: (frame: number) => number
}

/** The first frame that begins in a unit or behind it; for the number of units, the number of frames. */
export function firstFrameOf({ units, frames }: TimedFrames, unit: number): number {
  return firstAtLeast(frames.count, frames.startOf, units.startOf(unit))
}

/** True if new frames have the sizes of the old ones, as far as they reach. */
export function haveSameSizes({ frames }: Pick<TimedFrames, 'frames'>, made: MadeFrames): boolean {
  const [first, start] = [frames.startOf(0), made.startOf(0)]
  for (let frame = 0; frame <= Math.min(frames.count, made.count); frame++) {
    if (frames.startOf(frame) - first !== made.startOf(frame) - start) return false
  }
  return true
}
