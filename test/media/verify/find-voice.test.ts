import { expect, it } from 'vitest'
import { findVoice, windowsOf } from '../../../src/media/verify/find-voice.js'
import type { MuxedVoice } from '../../../src/media/write/remux/mux.js'
import { SyncReference } from '../../../src/media/write/remux/sync-reference.js'

const FORMAT = { sampleRate: 8000, channels: 1, channelLayout: 'mono', sample: 'f32' } as const
/** A decoder returns the last frame of AAC whole. */
const DECODED = 3072

/** The last of its blocks of a sixth begins there. */
const END = 2560

it.each<[string, number, number, string[], string?]>([
  ['nothing ends', DECODED, DECODED, ['end']],
  ['the last frame of WMA begins', DECODED, DECODED, [], 'wmav2'],
  ['the track ends', END, DECODED, []],
  ['the decoded sound ends', DECODED, END, []],
])('compares a block with the sound that the track states: %s before it', (_, stated, decoded, lost, codec = 'aac') => {
  const sound = Float32Array.from({ length: DECODED }, (_, at) => (at < END ? 0.1 : 0.3) * Math.sin(at * at * 1e-3))
  const reference = new SyncReference(FORMAT, DECODED)
  reference.push(Buffer.from(sound.buffer))
  reference.end()
  const read = { format: FORMAT, sampleCount: stated, syncSamples: reference.samples }
  const voice: MuxedVoice = { audioIndex: 0, skippedSamples: 0, splice: null, encoded: null, ...read }
  const windows = windowsOf(voice, 0)
  windows.push(Buffer.from(sound.fill(0, END).slice(0, decoded).buffer))
  expect(findVoice(windows, voice, 0, codec).lost).toEqual(lost)
})
