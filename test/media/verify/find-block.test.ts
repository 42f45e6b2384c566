import { expect, it } from 'vitest'
import { findBlock } from '../../../src/media/verify/find-block.js'
import type { MuxedVoice } from '../../../src/media/write/remux/mux.js'
import { syncReach } from '../../../src/media/write/remux/sync-reference.js'

const RATE = 44_100
const REACH = syncReach(RATE)
const LENGTH = 2205
const voice = {
  audioIndex: 0,
  format: { sampleRate: RATE, channels: 1, channelLayout: 'mono', sample: 'f32' },
} as unknown as MuxedVoice

/** The place of what an encoder made of the first 50 ms of a sound, as found in that sound. */
function placeOf(
  sound: (at: number) => number,
  encoded: (at: number) => number,
  { codec, skippedSamples = 0 }: { readonly codec?: string; readonly skippedSamples?: number } = {},
) {
  const values = Float64Array.from({ length: LENGTH + 2 * REACH }, (_, at) => (at < REACH ? 0 : sound(at - REACH)))
  const window = Float64Array.from({ length: LENGTH }, (_, at) => encoded(at))
  return findBlock({ ...voice, skippedSamples }, { at: 'start', atSample: 0, values }, window, codec)
}

const beep = (at: number) => Math.sin((2 * Math.PI * 441 * at) / RATE)
/** A sound that swells within some samples from a place on. */
const swelling = (at: number, from: number) => 1 - 0.6 * Math.exp(-Math.abs(at - from) / 200)

it('takes a beep whose onset the encoder dulled to be in its place, though it looks like a later period', () => {
  const sound = (at: number) => beep(at) * swelling(at, 600)
  const { place, isLost } = placeOf(sound, (at) => 0.8 * beep(at) * swelling(at, 0) + 0.14 * Math.sin(at * at * 1e-2))
  expect({ offset: place.offsetSamples, isLost }).toEqual({ offset: 0, isLost: false })
})

it.each([44, 100, 1024])('finds a voice that is %s samples late', (shift) => {
  const sound = (at: number) => Math.sin(at * at * 1e-5) * swelling(at, 600)
  const { place } = placeOf(sound, (at) => (at < shift ? 0 : 0.8 * sound(at - shift)) + 0.1 * Math.sin(at * at * 1e-2))
  expect(place.offsetSamples).toBe(shift)
})

it('says that sound is lost if nothing of it came back', () => {
  const { place, isLost } = placeOf(beep, (at) => 0.1 * Math.sin(at * at * 1e-2))
  expect({ offset: place.offsetSamples, isLost }).toEqual({ offset: null, isLost: true })
})

it.each([
  ['aac', 100, 100],
  ['speex', 100, null],
  ['speex', 1024, 1024],
])('judges what %s made of a voice, whose waves fit best %i samples later, to be %s late', (codec, shift, offset) => {
  const sound = (at: number) => Math.sin(at * at * 1e-5) * swelling(at, 600)
  const other = (at: number) => (at < shift ? 0 : 0.8 * sound(at - shift)) + 0.3 * Math.sin(at * at * 1e-2)
  const { place, isLost } = placeOf(sound, other, { codec })
  expect({ offset: place.offsetSamples, isLost }).toEqual({ offset, isLost: false })
})

it('leaves a block unjudged if almost all of it lies in the priming of the encoder', () => {
  // A voice of 120 Hz fits at every 8 ms, and the noise of the encoder chooses the place.
  const buzz = (at: number) => Math.sin((2 * Math.PI * 120 * at) / RATE) * swelling(at, 600)
  const { place, isLost } = placeOf(buzz, (at) => buzz(at + 735), { skippedSamples: 1024 })
  expect({ offset: place.offsetSamples, isLost }).toEqual({ offset: null, isLost: false })
})
