import fc from '../../../helpers/properties.js'
import { EBML, element, marked, text, uint } from './made-elements.js'

/** A side file as the tests make it up. */
export interface MadeSide {
  readonly sizes: readonly number[]
  readonly packetMs: number
}

export const sides: fc.Arbitrary<MadeSide> = fc.record({
  sizes: fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 2, maxLength: 60 }),
  packetMs: fc.constantFrom(20, 20, 137, 2900),
})

/** Makes a side file as ffmpeg leaves it. */
export function sideFile({ sizes, packetMs }: MadeSide): Buffer {
  const clusters = sizes.map((length, place) => {
    const lead = Buffer.from([0x81, 0, 0, 0x80])
    const block = element(0xa3, 1, lead, marked(length, place + 3))
    return element(0x1f43b675, 1, uint(0xe7, 1000 + place * packetMs), block)
  })
  const audio = element(0xe1, 1, element(0xb5, 1, Buffer.from([0x47, 0x3b, 0x80, 0])), uint(0x9f, 2), uint(0x6264, 16))
  const entry = element(0xae, 1, uint(0xd7, 1), uint(0x83, 2), text(0x86, 'A_FLAC'), text(0x63a2, 'fLaC new'), audio)
  const tracks = element(0x1654ae6b, 1, entry)
  return Buffer.concat([
    EBML,
    element(0x18538067, 1, element(0x1549a966, 1, uint(0x2ad7b1, 1_000_000)), tracks, ...clusters),
  ])
}
