/** Taps on either side of the place between two samples. */
export const PEAK_REACH = 12
/** Places between two samples that are looked at: quarters at 48 kHz, as BS.1770 has it. */
const PHASES = 4

const TABLE = Array.from({ length: PHASES - 1 }, (_, phase) =>
  Float64Array.from({ length: 2 * PEAK_REACH }, (_, tap) => {
    const at = tap - PEAK_REACH + 1 - (phase + 1) / PHASES
    const window = 0.5 + 0.5 * Math.cos((Math.PI * at) / (PEAK_REACH + 0.5))
    return (Math.sin(Math.PI * at) / (Math.PI * at)) * window
  }),
)

/**
 * The greatest absolute value of one interleaved channel from sample `frame` up to the next, between them included.
 * `values` must reach {@link PEAK_REACH} frames to both sides. Where both samples lie under half of `floor` the
 * places between are not worth a look and the samples alone count: that makes most of a file free.
 */
export function peakAround(
  values: Float64Array,
  frame: number,
  channels: number,
  channel: number,
  floor: number,
): number {
  const here = Math.abs(values[frame * channels + channel] as number)
  const next = Math.abs(values[(frame + 1) * channels + channel] as number)
  if (here < floor / 2 && next < floor / 2) return here
  let peak = here
  for (const taps of TABLE) {
    let sum = 0
    let at = (frame - PEAK_REACH + 1) * channels + channel
    for (let tap = 0; tap < taps.length; tap++, at += channels) sum += (taps[tap] as number) * (values[at] as number)
    if (Math.abs(sum) > peak) peak = Math.abs(sum)
  }
  return peak
}
