import { readUint } from '../../../probe/matroska/ebml.js'
import { ID } from '../../../probe/matroska/ids.js'
import type { MatroskaDonor } from '../read/donor.js'
import { childOf, childrenOf, type Element, floatIn, uintIn } from '../read/element.js'
import { makeElement, makeFloat, makeUint } from '../read/make-ebml.js'
import { DEFAULT_SAMPLE_RATE, type TrackEntry } from '../read/track-entry.js'
import { newCodecPrivate } from './codec-private.js'
import type { Rewrite } from './rewrite.js'

/** Fields of an entry that state the coding of its packets. */
export const CODING: ReadonlySet<number> = new Set([
  ...[ID.CodecID, ID.CodecPrivate, ID.CodecDelay, ID.SeekPreRoll, ID.DefaultDuration, ID.DefaultDecodedFieldDuration],
  ...[ID.ContentEncodings, ID.CodecName, ID.SamplingFrequency, ID.OutputSamplingFrequency, ID.Channels],
  ...[ID.ChannelPositions, ID.BitDepth],
])

/**
 * Rewrites the entry of a track for new packets. Names, numbers, languages, flags and elements that nobody knows stay.
 *
 * @param codecDelayNs priming of the new packets; 0 if none is signalled
 */
export function rewriteEntry(old: TrackEntry, donor: MatroskaDonor, codecDelayNs: number, into: Rewrite): void {
  const { entry, packetSamples } = donor
  const isSameCodec = old.codecId === entry.codecId
  const codecPrivate = newCodecPrivate(old, entry)
  const preRoll = uintIn(entry.element, ID.SeekPreRoll)
  const edit = new MasterEdit(old.element, into)
  edit.set(ID.CodecID, text(ID.CodecID, entry.codecId))
  if (codecPrivate) edit.set(ID.CodecPrivate, (was) => makeElement(ID.CodecPrivate, codecPrivate, was?.sizeWidth))
  else edit.drop(ID.CodecPrivate)
  if (codecDelayNs > 0) edit.set(ID.CodecDelay, uint(ID.CodecDelay, codecDelayNs))
  else edit.drop(ID.CodecDelay)
  if (preRoll !== undefined) edit.set(ID.SeekPreRoll, uint(ID.SeekPreRoll, preRoll))
  else if (!isSameCodec) edit.drop(ID.SeekPreRoll)
  if (packetSamples === null) edit.drop(ID.DefaultDuration)
  else edit.change(ID.DefaultDuration, Math.round((packetSamples * 1e9) / entry.sampleRate))
  edit.drop(ID.DefaultDecodedFieldDuration)
  // New packets are written whole.
  edit.drop(ID.ContentEncodings)
  if (!isSameCodec) edit.drop(ID.CodecName)
  const [audio, made] = [childOf(old.element, ID.Audio), childOf(entry.element, ID.Audio)]
  if (audio && made) rewriteAudio(new MasterEdit(audio, into), { audio, made, donor, isSameCodec })
  else if (made) into.add(old.element, made.bytes)
}

interface AudioChange {
  readonly audio: Element
  readonly made: Element
  readonly donor: MatroskaDonor
  readonly isSameCodec: boolean
}

const DEFAULT_CHANNELS = 1
/** Codecs whose bit depth is a fact about the sound. */
const LOSSLESS = /^A_(PCM|FLAC|ALAC|TTA1|WAVPACK4)/

function rewriteAudio(edit: MasterEdit, { audio, made, donor, isSameCodec }: AudioChange): void {
  const { sampleRate, codecId } = donor.entry
  if ((floatIn(audio, ID.SamplingFrequency) ?? DEFAULT_SAMPLE_RATE) !== sampleRate) {
    edit.set(ID.SamplingFrequency, (was) => makeFloat(ID.SamplingFrequency, sampleRate, was?.body.length))
  }
  // A codec that doubles its rate when it is played has it; ffmpeg encodes no such codec.
  edit.drop(ID.OutputSamplingFrequency)
  const channels = uintIn(made, ID.Channels) ?? DEFAULT_CHANNELS
  if ((uintIn(audio, ID.Channels) ?? DEFAULT_CHANNELS) !== channels) {
    edit.set(ID.Channels, uint(ID.Channels, channels))
    edit.drop(ID.ChannelPositions)
  }
  // A lossy codec has no depth of its own: what the old entry says of it stays.
  const depth = LOSSLESS.test(codecId) ? uintIn(made, ID.BitDepth) : undefined
  if (depth !== undefined) edit.change(ID.BitDepth, depth)
  else if (!isSameCodec) edit.drop(ID.BitDepth)
}

/** Changes the children of a master in their places. */
class MasterEdit {
  readonly #old: Element
  readonly #into: Rewrite

  constructor(old: Element, into: Rewrite) {
    this.#old = old
    this.#into = into
  }

  /** Makes a child again; at the end of the master if it has none. */
  set(id: number, make: (old: Element | undefined) => Buffer): void {
    const [first] = childrenOf(this.#old, id)
    if (!first) this.#into.add(this.#old, make(undefined))
    else this.#into.replace(first, make(first))
  }

  /** Changes a number that the master has. */
  change(id: number, value: number): void {
    if (childOf(this.#old, id)) this.set(id, uint(id, value))
  }

  drop(id: number): void {
    for (const child of childrenOf(this.#old, id)) this.#into.replace(child, Buffer.alloc(0))
  }
}

/** An unsigned integer; the same bytes if it has the value already. */
function uint(id: number, value: number) {
  return (old: Element | undefined) =>
    old && readUint(old.body) === value ? old.bytes : makeUint(id, value, old?.body.length ?? 1)
}

function text(id: number, value: string) {
  return (old: Element | undefined) =>
    old && old.body.toString('latin1').replace(/\0+$/, '') === value ? old.bytes : makeElement(id, Buffer.from(value))
}
