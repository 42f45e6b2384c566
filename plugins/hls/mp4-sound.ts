import { PrecheckError } from '../../src/core/errors.js'
import { type AdtsFormat, formatOfConfig, muxedAudio, notAacLc } from './audio-frames.js'
import { boxesIn, descend } from './mp4-boxes.js'

/** Offset of the boxes in a version-0 sample entry of sound, from its content on. */
const SAMPLE_ENTRY_BYTES = 28
const DECODER_CONFIG = 4
const DECODER_SPECIFIC = 5

/**
 * How the one track of an initialization section is coded.
 *
 * @throws PrecheckError ERR_HLS_MUXED_AUDIO, ERR_HLS_ENCRYPTED, ERR_HLS_CODEC, ERR_HLS_SEGMENT
 */
export function soundOfInit(init: Buffer, name: string): AdtsFormat {
  const tracks = descend(init, ['moov', 'trak', 'mdia', 'hdlr'])
  const kinds = tracks.map(({ content }) => init.toString('latin1', content + 8, content + 12))
  if (kinds.length !== 1 || kinds[0] !== 'soun') throw muxedAudio(`${name} holds`, name)
  const [table] = descend(init, ['moov', 'trak', 'mdia', 'minf', 'stbl', 'stsd'])
  const [entry, ...others] = table ? (boxesIn(init, table.content + 8, table.end) ?? []) : []
  if (entry === undefined || others.length > 0) {
    throw new PrecheckError('ERR_HLS_SEGMENT', `${name} is not a readable initialization section.`, {
      input: name,
    })
  }
  if (entry.type === 'enca') {
    throw new PrecheckError('ERR_HLS_ENCRYPTED', `${name} says that the sound is encrypted.`, {
      input: name,
      remedies: ['Regenerate the package before it is encrypted.'],
    })
  }
  if (entry.type !== 'mp4a') throw notAacLc(name)
  const inside = boxesIn(init, entry.content + SAMPLE_ENTRY_BYTES, entry.end) ?? []
  const esds = inside.find(({ type }) => type === 'esds')
  const config = esds && decoderConfig(init.subarray(esds.content + 4, esds.end))
  if (!config) throw notAacLc(name)
  return formatOfConfig(config, name)
}

/** The AudioSpecificConfig inside an ES descriptor. */
function decoderConfig(bytes: Buffer): Buffer | null {
  const stream = descriptorIn(bytes, 0)
  if (!stream) return null
  // ES id (2 bytes), then flags that announce three optional fields.
  const flags = stream.body[2] ?? 0
  const optional = (flags & 0x80 ? 2 : 0) + (flags & 0x40 ? 1 + (stream.body[3] ?? 0) : 0) + (flags & 0x20 ? 2 : 0)
  const decoder = descriptorIn(stream.body, 3 + optional)
  if (decoder?.tag !== DECODER_CONFIG) return null
  const specific = descriptorIn(decoder.body, 13)
  return specific?.tag === DECODER_SPECIFIC ? specific.body : null
}

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
