import type { MatroskaDonor } from '../read/donor.js'
import { makeElement, makeFloat, makeUint, readFloat, readUint } from '../read/ebml.js'
import { childOf, type Element, uintIn } from '../read/element.js'
import { ID } from '../read/ids.js'
import type { TrackEntry } from '../read/track-entry.js'
import { newCodecPrivate } from './codec-private.js'
import type { Rewrite } from './rewrite.js'

/** New bytes for the children of an entry, by id; null leaves a child out. */
type Wanted = ReadonlyMap<number, ((old: Element | undefined) => Buffer) | null>

/** Fields of an entry that state the coding of its packets. */
export const CODING: ReadonlySet<number> = new Set([
  ...[ID.CodecID, ID.CodecPrivate, ID.CodecDelay, ID.SeekPreRoll, ID.DefaultDuration, ID.DefaultDecodedFieldDuration],
  ...[ID.ContentEncodings, ID.CodecName, ID.SamplingFrequency, ID.OutputSamplingFrequency, ID.Channels],
  ...[ID.ChannelPositions, ID.BitDepth],
])

/**
 * Rewrites the entry of a track for new packets. Names, numbers, languages, flags and elements that nobody knows stay.
 *
 * @param codecDelayNs lead-in of the new packets; 0 if none is signalled
 */
export function rewriteEntry(old: TrackEntry, donor: MatroskaDonor, codecDelayNs: number, into: Rewrite): void {
  const { entry, packetSamples } = donor
  const isSameCodec = old.codecId === entry.codecId
  const codecPrivate = newCodecPrivate(old, entry)
  const preRoll = uintIn(entry.element, ID.SeekPreRoll)
  const packetNs = packetSamples === null ? null : Math.round((packetSamples * 1e9) / entry.sampleRate)
  const wanted: Wanted = new Map([
    [ID.CodecID, text(ID.CodecID, entry.codecId)],
    [ID.CodecPrivate, codecPrivate && ((was) => makeElement(ID.CodecPrivate, codecPrivate, was?.sizeWidth))],
    [ID.CodecDelay, codecDelayNs > 0 ? uint(ID.CodecDelay, codecDelayNs) : null],
    ...(isSameCodec && preRoll === undefined
      ? []
      : ([[ID.SeekPreRoll, preRoll === undefined ? null : uint(ID.SeekPreRoll, preRoll)]] as const)),
    ...(childOf(old.element, ID.DefaultDuration)
      ? ([[ID.DefaultDuration, packetNs === null ? null : uint(ID.DefaultDuration, packetNs)]] as const)
      : []),
    [ID.DefaultDecodedFieldDuration, null],
    // New packets are written whole.
    [ID.ContentEncodings, null],
    ...(isSameCodec ? [] : ([[ID.CodecName, null]] as const)),
  ])
  edit(old.element, wanted, into)
  const audio = childOf(old.element, ID.Audio)
  const made = childOf(entry.element, ID.Audio)
  if (audio && made) rewriteAudio(audio, made, donor, isSameCodec, into)
  else if (made) into.add(old.element, made.bytes)
}

function rewriteAudio(old: Element, made: Element, { entry }: MatroskaDonor, isSameCodec: boolean, into: Rewrite) {
  const count = uintIn(made, ID.Channels) ?? 1
  const isSameCount = (uintIn(old, ID.Channels) ?? 1) === count
  const depth = uintIn(made, ID.BitDepth)
  const isExact = LOSSLESS.test(entry.codecId)
  edit(
    old,
    new Map([
      [ID.SamplingFrequency, float(ID.SamplingFrequency, entry.sampleRate)],
      // Of a codec that doubles its rate when it is played; the new one does not.
      [ID.OutputSamplingFrequency, null],
      [ID.Channels, uint(ID.Channels, count)],
      ...(isSameCount ? [] : ([[ID.ChannelPositions, null]] as const)),
      ...(isExact || !isSameCodec
        ? ([[ID.BitDepth, isExact && depth !== undefined ? uint(ID.BitDepth, depth) : null]] as const)
        : []),
    ]),
    into,
  )
}

/** Codecs whose bit depth is a fact about the sound. */
const LOSSLESS = /^A_(PCM|FLAC|ALAC|TTA1|WAVPACK4)/

/** Replaces children of a master in their places; further ones follow at its end. */
function edit(old: Element, wanted: Wanted, into: Rewrite): void {
  const left = new Map(wanted)
  for (const child of old.children) {
    const make = wanted.get(child.id)
    if (make === undefined) continue
    const made = left.delete(child.id) && make ? make(child) : Buffer.alloc(0)
    if (made !== child.bytes) into.replace(child, made)
  }
  for (const make of left.values()) if (make) into.add(old, make(undefined))
}

/** An unsigned integer; the same bytes if it has the value already. */
function uint(id: number, value: number) {
  return (old: Element | undefined) =>
    old && readUint(old.body) === value ? old.bytes : makeUint(id, value, old?.body.length ?? 1)
}

function float(id: number, value: number) {
  return (old: Element | undefined) =>
    old && readFloat(old.body) === value ? old.bytes : makeFloat(id, value, old?.body.length ?? 4)
}

function text(id: number, value: string) {
  return (old: Element | undefined) =>
    old && old.body.toString('latin1').replace(/\0+$/, '') === value ? old.bytes : makeElement(id, Buffer.from(value))
}
