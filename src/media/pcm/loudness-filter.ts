/** A second-order section, `a0` = 1. */
export interface Biquad {
  readonly b: readonly [number, number, number]
  readonly a: readonly [number, number]
}

/**
 * The two filters of ITU-R BS.1770 (K-weighting: a shelf for the head, a high-pass for the ear) at any rate. Uses the
 * analogue prototypes of the recommendation's table for 48 kHz.
 */
export function kWeighting(sampleRate: number): readonly [Biquad, Biquad] {
  return [shelf(sampleRate), highPass(sampleRate)]
}

function shelf(sampleRate: number): Biquad {
  const k = Math.tan((Math.PI * 1681.974450955533) / sampleRate)
  const q = 0.7071752369554196
  const high = 10 ** (3.999843853973347 / 20)
  const band = high ** 0.4996667741545416
  const a0 = 1 + k / q + k * k
  return {
    b: [(high + (band * k) / q + k * k) / a0, (2 * (k * k - high)) / a0, (high - (band * k) / q + k * k) / a0],
    a: [(2 * (k * k - 1)) / a0, (1 - k / q + k * k) / a0],
  }
}

function highPass(sampleRate: number): Biquad {
  const k = Math.tan((Math.PI * 38.13547087602444) / sampleRate)
  const q = 0.5003270373238773
  const a0 = 1 + k / q + k * k
  return { b: [1, -2, 1], a: [(2 * (k * k - 1)) / a0, (1 - k / q + k * k) / a0] }
}

/** Channels of ffmpeg's layouts with other than front speakers, in order. */
const PLACES: Readonly<Record<string, string>> = {
  '2.1': 'F F L',
  '4.0': 'F F F S',
  quad: 'F F S S',
  'quad(side)': 'F F S S',
  '5.0': 'F F F S S',
  '5.0(side)': 'F F F S S',
  '5.1': 'F F F L S S',
  '5.1(side)': 'F F F L S S',
  '6.1': 'F F F L S S S',
  '7.1': 'F F F L S S S S',
}

/** Weight of each channel's power: 1 in front, 1.41 at the sides and behind, 0 for the bass channel. */
export function channelWeights(channels: number, channelLayout: string): readonly number[] {
  const places = PLACES[channelLayout]?.split(' ') ?? []
  return Array.from({ length: channels }, (_, index) => (places[index] === 'S' ? 1.41 : places[index] === 'L' ? 0 : 1))
}
