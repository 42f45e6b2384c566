/** Taps on either side of a position between two samples. */
export const PEAK_REACH = 12
/** Positions examined between two samples: quarters at 48 kHz, as in BS.1770. */
const PHASES = 4

const TABLE = Array.from({ length: PHASES - 1 }, (_, phase) =>
  Float64Array.from({ length: 2 * PEAK_REACH }, (_, tap) => {
    const at = tap - PEAK_REACH + 1 - (phase + 1) / PHASES
    const window = 0.5 + 0.5 * Math.cos((Math.PI * at) / (PEAK_REACH + 0.5))
    return (Math.sin(Math.PI * at) / (Math.PI * at)) * window
  }),
)

/**
 * The greatest absolute value of one interleaved channel from sample `frame` up to the next, including positions
 * between them. `values` must reach {@link PEAK_REACH} frames to both sides. If both samples are below half of `floor`,
 * only they count, which skips most of a file.
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
