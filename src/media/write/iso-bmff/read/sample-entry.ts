import { MalformedFile, unlessMalformed } from '../../../probe/malformed-file.js'
import { type Box, bodyOf, makeBox } from '../../../probe/movie/box.js'
import { parseBoxes } from '../../../probe/movie/parse-boxes.js'
import type { FixedFrames } from '../../../probe/movie/sample-table.js'
import { withOpusRate } from '../../frames/opus-rate.js'
import { OPUS_RATE } from '../../splice/opus-samples.js'

/** A sound sample description as it stands in `stsd`. */
export interface SampleEntry {
  /** Codec tag: `mp4a`, `Opus`, `lpcm`, … */
  readonly format: string
  readonly bytes: Buffer
  /** Place of the data reference, from 1. */
  readonly dataReference: number
}

/** Reads the entries of `stsd`. */
export function sampleEntries(stsd: Box | undefined): readonly SampleEntry[] {
  const body = bodyOf(stsd)
  const entries: SampleEntry[] = []
  for (let at = 8; at + 16 <= body.length; ) {
    const length = body.readUInt32BE(at)
    if (length < 16 || at + length > body.length) throw new MalformedFile('a sample description overruns its table')
    const bytes = body.subarray(at, at + length)
    entries.push({ format: bytes.toString('latin1', 4, 8), bytes, dataReference: bytes.readUInt16BE(14) })
    at += length
  }
  return entries
}

/** Fields of a sound description, header included, by its version: 0, QuickTime's 1 and QuickTime's 2. */
const FIXED_BYTES: readonly number[] = [36, 52, 72]
/** Boxes that configure a decoder. */
const CODEC_BOXES: ReadonlySet<string> = new Set('esds dac3 dec3 dac4 dOps dfLa alac ddts dmlp glbl'.split(' '))

interface SoundEntry {
  readonly version: number
  readonly fields: Buffer
  readonly children: readonly Box[]
}

/** Null if the entry does not have the form of a sound description. */
function soundEntry({ bytes }: SampleEntry): SoundEntry | null {
  if (bytes.length < 36) return null
  const version = bytes.readUInt16BE(16)
  const fixed = FIXED_BYTES[version]
  if (fixed === undefined || bytes.length < fixed) return null
  const children = unlessMalformed(() => parseBoxes(bytes.subarray(fixed), fixed, 'stsd'), null)
  return children && { version, fields: bytes.subarray(0, fixed), children }
}

/** A pre-skip of 80 ms. No encoder needs more. */
const MOST_PRE_SKIP = 3840

/** Priming in seconds that a decoder drops without an edit list: the pre-skip of Opus; 0 for other codecs. */
export function droppedPrimingSec(entry: SampleEntry | undefined): number {
  const body = bodyOf(entry && soundEntry(entry)?.children.find(({ type }) => type === 'dOps'))
  if (body.length < 4) return 0
  const preSkip = body.readUInt16BE(2)
  // GStreamer 1.22 writes the two bytes in reverse. Decoders drop a third of a second then, but the packets last longer.
  return (preSkip > MOST_PRE_SKIP ? Math.min(body.readUInt16LE(2), MOST_PRE_SKIP) : preSkip) / OPUS_RATE
}

/** Bits per sample of PCM, by its tag. */
const PCM_BITS: Readonly<Record<string, number>> = {
  ...{ sowt: 16, twos: 16, in24: 24, in32: 32, fl32: 32, fl64: 64, ulaw: 8, alaw: 8 },
}
/** Packets of the other codecs that the first version of QuickTime's sound description names, for each channel. */
const PACKED: Readonly<Record<string, FixedFrames>> = {
  ima4: { samples: 64, bytes: 34 },
  MAC3: { samples: 6, bytes: 2 },
  MAC6: { samples: 6, bytes: 1 },
  agsm: { samples: 160, bytes: 33 },
}

/**
 * How the samples of QuickTime sound lie in a chunk if every sample lasts one tick: their size table counts samples
 * and not bytes then. Null if the size table is right.
 */
export function fixedFrames(entry: SampleEntry | undefined): FixedFrames | null {
  const sound = entry && soundEntry(entry)
  if (!entry || !sound) return null
  const { version, fields } = sound
  if (version === 1) {
    const [samples, bytes] = [fields.readUInt32BE(36), fields.readUInt32BE(44)]
    if (samples > 0 && bytes > 0) return { samples, bytes }
  }
  if (version === 2) {
    const [bytes, samples] = [fields.readUInt32BE(64), fields.readUInt32BE(68)]
    if (samples > 0 && bytes > 0) return { samples, bytes }
  }
  const channels = fields.readUInt16BE(24)
  const packed = PACKED[entry.format]
  if (packed) return { samples: packed.samples, bytes: packed.bytes * channels }
  const stated = fields.readUInt16BE(26)
  const bits = entry.format === 'sowt' || entry.format === 'twos' || entry.format === 'raw ' ? stated : 0
  const each = bits || PCM_BITS[entry.format] || 0
  return each > 0 ? { samples: 1, bytes: (each / 8) * channels } : null
}

/**
 * The sample description of the new audio. With the same coding, the old description stays and only the
 * boxes that configure the decoder are new. Otherwise the donor's description replaces it.
 */
export function newSampleEntry(old: SampleEntry, donor: SampleEntry): Buffer {
  const merged = mergedEntry(old, donor)
  const bytes = Buffer.from(merged ?? donor.bytes)
  bytes.writeUInt16BE(old.dataReference, 14)
  return bytes
}

function mergedEntry(old: SampleEntry, donor: SampleEntry): Buffer | null {
  const [before, after] = [soundEntry(old), soundEntry(donor)]
  if (old.format !== donor.format || !before || !after || before.version === 2) return null
  if (before.version !== after.version || !isSameShape(before, after)) return null
  const [oldConfigs, configs] = [codecBoxes(before.children), new Map(codecBoxes(after.children))]
  const opus = configs.get('dOps')
  if (opus) configs.set('dOps', withOpusRate(oldConfigs.get('dOps'), opus))
  const children = withConfigs(before.children, configs)
  if (!children || configs.size !== oldConfigs.size) return null
  const [oldRates, newRates] = [before, after].map((entry) => entry.children.find(({ type }) => type === 'btrt'))
  const rates = (oldRates && newRates?.bytes) ?? EMPTY
  const bytes = Buffer.concat([before.fields, ...children, rates])
  bytes.writeUInt32BE(bytes.length, 0)
  return bytes
}

/** Channels, bits, rate, and in QuickTime's version 1 the samples of a packet. */
function isSameShape(before: SoundEntry, after: SoundEntry): boolean {
  const isSame = (from: number, to: number) => before.fields.subarray(from, to).equals(after.fields.subarray(from, to))
  const [own, other] = [aacChannels(before), aacChannels(after)]
  // Writers disagree about these fields for AAC. Only its decoder configuration counts.
  const hasSameChannels = own !== null && other !== null ? own === other : isSame(24, 28)
  return hasSameChannels && isSame(32, 36) && (before.version === 0 || isSame(36, 40))
}

/** Channel configuration of AAC: 5 bits of type, 4 of rate, 4 of channels. Null if there is none. */
function aacChannels({ children }: SoundEntry): number | null {
  const config = aacConfigIn(children)
  return config && config.length > 1 ? ((config[1] as number) >> 3) & 15 : null
}

/** The AudioSpecificConfig of a sound description; null if it has none. */
export function aacConfigOf(entry: SampleEntry): Buffer | null {
  return aacConfigIn(soundEntry(entry)?.children ?? [])
}

function aacConfigIn(children: readonly Box[]): Buffer | null {
  const stream = descriptorIn(codecBoxes(children).get('esds') ?? EMPTY, 12)
  if (!stream) return null
  // ES id (2 bytes), then flags that announce three optional fields.
  const flags = stream.body[2] ?? 0
  const optional = (flags & 0x80 ? 2 : 0) + (flags & 0x40 ? 1 + (stream.body[3] ?? 0) : 0) + (flags & 0x20 ? 2 : 0)
  const decoder = descriptorIn(stream.body, 3 + optional)
  const specific = decoder?.tag === DECODER_CONFIG ? descriptorIn(decoder.body, 13) : null
  return specific?.tag === DECODER_SPECIFIC ? specific.body : null
}

const [DECODER_CONFIG, DECODER_SPECIFIC] = [4, 5]

/** A descriptor: a tag, a length in up to four groups of seven bits, and its body. */
function descriptorIn(bytes: Buffer, start: number): { tag: number; body: Buffer } | null {
  let length = 0
  for (let at = start + 1; at < Math.min(bytes.length, start + 5); at++) {
    const byte = bytes[at] as number
    length = (length << 7) | (byte & 0x7f)
    if (byte & 0x80) continue
    return { tag: bytes[start] as number, body: bytes.subarray(at + 1, at + 1 + length) }
  }
  return null
}

const EMPTY = Buffer.alloc(0)

/** The boxes that configure a decoder, from the description or from QuickTime's `wave` within it. */
function codecBoxes(children: readonly Box[]): ReadonlyMap<string, Buffer> {
  const boxes = [...children, ...children.filter(isWave).flatMap(waveBoxes)].filter(isCodecBox)
  return new Map(boxes.map(({ type, bytes }) => [type, bytes ?? EMPTY]))
}

/** Old boxes with new configurations; null if one has no counterpart. Omits bit rates of the old audio. */
function withConfigs(children: readonly Box[], configs: ReadonlyMap<string, Buffer>): readonly Buffer[] | null {
  const made = children
    .filter(({ type }) => type !== 'btrt')
    .map((child) => {
      if (isCodecBox(child)) return configs.get(child.type) ?? null
      if (!isWave(child)) return child.bytes
      const inner = withConfigs(waveBoxes(child), configs)
      const kept = waveBoxes(child).reduce((sum, { length }) => sum + length, 0)
      return inner && makeBox('wave', Buffer.concat([...inner, bodyOf(child).subarray(kept)]))
    })
  return made.every((bytes) => bytes !== null) ? made : null
}

function isCodecBox({ type }: Box): boolean {
  return CODEC_BOXES.has(type)
}

function isWave({ type }: Box): boolean {
  return type === 'wave'
}

/** QuickTime ends the list with a box of type zero. */
function waveBoxes(wave: Box): readonly Box[] {
  return unlessMalformed(() => parseBoxes(bodyOf(wave), 0, 'wave'), [])
}
