/** A peak is flat if so many samples in a row lie at the same extreme. */
const LEAST_RUN = 3
/** Samples count as equal within half a step of 16 bits. */
const STEP = 1 / 65_536
/** A cut peak ends at an edge. The top of a slow wave, also flat in integers, falls off gently. */
const LEAST_EDGE = 8 * STEP
/** Flat peaks of quiet sound are steps of its integers. */
const LEAST_LEVEL = 0.01
/** Fewer flat samples than this share are chance, and more are the wave's own form. */
const LEAST_SHARE = 2e-4
const MOST_SHARE = 0.35

/** The levels at which a channel was cut, and how much of it. */
export interface Clipping {
  readonly low: number
  readonly high: number
  /** Share of the samples that lie at one of the levels. */
  readonly share: number
}

/** Finds flat peaks: runs of samples at the highest or the lowest value. Undefined if the peaks are round. */
export function findClipping(channel: Float32Array): Clipping | undefined {
  let [low, high] = [0, 0]
  // Iterators of typed arrays make garbage for each sample.
  for (let i = 0; i < channel.length; i++) {
    const value = channel[i] ?? 0
    if (value < low) low = value
    if (value > high) high = value
  }
  if (Math.min(-low, high) < LEAST_LEVEL) return undefined
  const [bottom, top] = [low + STEP, high - STEP]
  let flat = 0
  for (let i = 0; i < channel.length; ) {
    const from = i
    const value = channel[i++] as number
    if (value >= top) while ((channel[i] as number) >= top) i++
    else if (value <= bottom) while ((channel[i] as number) <= bottom) i++
    else continue
    if (i - from >= LEAST_RUN && edgeOf(channel, from, i) > LEAST_EDGE) flat += i - from
  }
  const share = flat / Math.max(1, channel.length)
  return share < LEAST_SHARE || share > MOST_SHARE ? undefined : { low, high, share }
}

/** The larger drop at the two ends of a run. */
function edgeOf(channel: Float32Array, from: number, to: number): number {
  return Math.max(dropOf(channel, to - 1, to), dropOf(channel, from, from - 1))
}

/** How much smaller the neighbour of a sample is; 0 at the ends. */
function dropOf(channel: Float32Array, at: number, neighbour: number): number {
  const value = channel[at] ?? 0
  return Math.sign(value) * (value - (channel[neighbour] ?? value))
}

/** True for a sample that was cut. */
export function isCut(value: number, { low, high }: Pick<Clipping, 'low' | 'high'>): boolean {
  return value >= high - STEP || value <= low + STEP
}
