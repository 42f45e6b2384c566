import { decimate } from '../resample-by-factor.js'
import { HOP_SEC } from '../restore/spectral-change.js'
import { BED_HOP_SEC, findBed } from './find-bed.js'
import { TONE_RATE } from './steady-tones.js'

/** Zero crossings of the filter to the rate of the tones: few, because the tones lie far below the band's end. */
const CROSSINGS = 6

/**
 * Finds the beds of the channels of one recording. A bed in one counts for those that share its gain, so that the stereo
 * image stays.
 *
 * @param lows the channels at 16 kHz
 * @param likeness of each channel, frame by frame: how far it shares the gain of all
 * @returns for each channel 0 (no bed) … 1, frame by frame
 */
export function bedsOf(lows: readonly Float32Array[], likeness: readonly Float64Array[]): Float64Array[] {
  const found = lows.map((low) => findBed(decimate(low, 16_000 / TONE_RATE, CROSSINGS)))
  const at = (values: Float64Array | undefined, frame: number) => {
    const place = (frame * HOP_SEC) / BED_HOP_SEC
    const before = Math.floor(place)
    const left = values?.[before] ?? 0
    return left + ((values?.[before + 1] ?? left) - left) * (place - before)
  }
  return likeness.map((alike, c) =>
    alike.map((share, frame) => {
      const own = at(found[c], frame)
      const others = found.map((values, other) => (likeness[other]?.[frame] ?? 0) * at(values, frame))
      return Math.max(own, share * Math.max(...others))
    }),
  )
}
