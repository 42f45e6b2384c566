import { slidingMean } from './sliding.js'
import { smoothStep } from './smooth-step.js'

/** Channels are compared over so long to both sides. */
const REACH_SEC = 0.5
/** Correlation at which channels go each their own way, and from which on they share one gain. */
const APART = 0.2
const TOGETHER = 0.5

/**
 * How far each channel shares its gain with the others: 1 keeps the stereo image of one recording, 0 treats
 * two microphones as two. A channel alone shares with itself.
 *
 * @param frames how many places, `hop` samples apart; the first lies at the start
 * @param hopSec time between two places
 * @returns for each channel 0 … 1, place by place
 */
export function likenessOf(
  channels: readonly Float32Array[],
  frames: number,
  hop: number,
  hopSec: number,
): Float64Array[] {
  if (channels.length < 2) return channels.map(() => new Float64Array(frames).fill(1))
  const reach = Math.round(REACH_SEC / hopSec)
  const sum = new Float64Array(frames * hop)
  for (const channel of channels) for (let i = 0; i < channel.length; i++) sum[i] = (sum[i] ?? 0) + (channel[i] ?? 0)
  return channels.map((channel) => {
    const [cross, own, rest] = [new Float64Array(frames), new Float64Array(frames), new Float64Array(frames)]
    for (let i = 0; i < channel.length; i++) {
      const frame = Math.floor(i / hop)
      const value = channel[i] ?? 0
      const other = (sum[i] ?? 0) - value
      cross[frame] = (cross[frame] ?? 0) + value * other
      own[frame] = (own[frame] ?? 0) + value * value
      rest[frame] = (rest[frame] ?? 0) + other * other
    }
    const [meanCross, meanOwn, meanRest] = [cross, own, rest].map((values) => slidingMean(values, reach))
    return Float64Array.from({ length: frames }, (_, i) => {
      const power = (meanOwn?.[i] ?? 0) * (meanRest?.[i] ?? 0)
      // A channel beside silence has nobody to differ from.
      if (power < 1e-18) return 1
      return smoothStep(Math.abs(meanCross?.[i] ?? 0) / Math.sqrt(power), APART, TOGETHER)
    })
  })
}
