/**
 * Weight of a channel in the mono sum that is compared with an output. Both channels of a pair would cancel each other
 * out if they had the same weight and opposite phase. The ratio is none of the usual levels (-3 dB, -6 dB).
 */
export function channelWeight(channel: number): number {
  return channel % 2 === 0 ? 1 : 0.6
}
