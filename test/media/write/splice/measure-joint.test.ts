import { describe, expect, it } from 'vitest'
import { jointHolds, lagOf, probeOf } from '../../../../src/media/write/splice/measure-joint.js'

/** Four packets of a tone; noise is a share of it in the opposite phase. */
function packets(share: (packet: number) => number): readonly Float64Array[] {
  return Array.from({ length: 4 }, (_, packet) => {
    return Float64Array.from({ length: 256 }, (_, place) => Math.sin(packet * 256 + place / 3) * (1 - share(packet)))
  })
}

describe('a joint', () => {
  it.each<readonly [string, (packet: number) => number, (packet: number) => number, boolean]>([
    ['is as near as the new coding alone', () => 0.1, () => 0.1, true],
    ['has a click in one packet', (packet) => (packet === 1 ? 0.5 : 0.1), () => 0.1, false],
    ['has an error that nobody hears', () => 1e-5, () => 0, true],
    ['plays new packets at half their level', () => 0.5, () => 0.5, false],
    ['is not a number', () => Number.NaN, () => 0.1, false],
  ])('%s', (_name, joined, coded, holds) => {
    expect(
      jointHolds(
        packets(joined),
        packets(coded),
        packets(() => 0),
      ),
    ).toBe(holds)
  })
})

it('holds a probe of a joint in four bytes a sample, because a film may have thousands', () => {
  const sounds = packets(() => 0)
  expect(probeOf(0, sounds, sounds, 1).values.byteLength).toBe(4 * 4 * 256)
})

describe('the place of packets in a sound', () => {
  const hay = Float64Array.from({ length: 400 }, (_, place) => Math.sin(place ** 1.5 / 20))

  it('is found to the sample', () => {
    expect(lagOf(hay.subarray(93, 293), hay, 100)).toBe(-7)
  })

  it('is the stated one in silence, and nowhere if the sound is another', () => {
    expect(lagOf(new Float64Array(200), hay, 100)).toBe(0)
    expect(
      lagOf(
        hay.subarray(100, 300).map((value, place) => value * (place % 2 ? 1 : -1)),
        hay,
        100,
      ),
    ).toBeNull()
  })
})
