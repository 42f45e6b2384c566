import { expect, it } from 'vitest'
import { untrueFact } from '../../../../src/media/write/ts/stated-facts.js'

const wrong = 'its descriptor 129 may state facts about the old sound'

it.each([
  ['at most 640 kbit/s', [0x08, 0xc8, 0x04, 0x00], undefined],
  ['192 kbit/s', [0x08, 0x28, 0x04, 0x00], undefined],
  ['256 kbit/s', [0x08, 0x30, 0x04, 0x00], wrong],
  ['at most 640 kbit/s within itself, as GStreamer writes it', [0x81, 4, 0x08, 0xc8, 0x04, 0x00], undefined],
  ['256 kbit/s within itself', [0x81, 4, 0x08, 0x30, 0x04, 0x00], wrong],
])('judges a descriptor of AC-3 that states %s', (_, body, reason) => {
  const entry = { streamType: 0x81, pid: 256, descriptors: [{ tag: 0x81, body: Buffer.from(body) }] }
  const facts = { codec: 'ac3', bitRate: 192_000, hasSameFrames: true }
  expect(untrueFact({ descriptors: [], entries: [entry] }, entry, facts)).toBe(reason)
})
