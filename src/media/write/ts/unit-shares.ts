import { firstAtLeast } from '../first-at-least.js'
import { firstFrameOf, haveSameSizes, type MadeFrames } from '../pes/timed-frames.js'
import type { TransportSound } from './sound-packets.js'

/** The content of a unit of the track in the output. */
export interface UnitShare {
  /** Old bytes before the first whole frame, which stay. */
  readonly leadBytes: number
  /** Bytes of the side file. */
  readonly from: number
  readonly to: number
}

/**
 * Divides new frames among the units of a track. If all have the sizes of the old ones, each unit keeps its bytes, even if
 * a frame lies in two units. Else each gets the frames that began in it; one in which none began gets a part of the frame
 * before it.
 */
export function unitShares(sound: TransportSound, made: MadeFrames): (unit: number) => UnitShare {
  const { units, frames } = sound
  const first = frames.startOf(0)
  if (haveSameSizes(sound, made)) {
    const end = made.startOf(made.count)
    const placeOf = (byte: number) => Math.min(end, Math.max(0, byte - first))
    return (unit) => {
      const [start, next] = [units.startOf(unit), units.startOf(unit + 1)]
      const leadBytes = Math.max(0, Math.min(first, next) - start)
      return { leadBytes, from: placeOf(start), to: placeOf(next) }
    }
  }
  return (unit) => ({ leadBytes: 0, from: shareStart(sound, made, unit), to: shareStart(sound, made, unit + 1) })
}

/** First new byte of a unit; for the number of units, the one behind the last. */
function shareStart(sound: TransportSound, made: MadeFrames, unit: number): number {
  const { count } = sound.units
  const frameOf = (each: number) => firstFrameOf(sound, each)
  const frame = frameOf(unit)
  const end = made.startOf(Math.min(made.count, frame))
  if (unit === count || frame === 0 || frame < frameOf(unit + 1)) return end
  // Units in a row in which no frame begins share the last frame before them with the unit in which it begins.
  const first = firstAtLeast(count, frameOf, frame)
  const next = firstAtLeast(count + 1, frameOf, frame + 1) - 1
  const start = made.startOf(Math.min(made.count, frame - 1))
  return start + Math.floor(((end - start) * (unit - first + 1)) / (next - first + 1))
}
