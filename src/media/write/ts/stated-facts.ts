import { AC3_STEPS } from '../encode/audio-encoding.js'
import type { Descriptor, ProgramEntry, ProgramTable } from './program-tables.js'

/** Facts about the new sound that a descriptor may state. */
export interface NewFacts {
  readonly codec: string
  /** In bits per second. */
  readonly bitRate: number | null
  /** Every frame has the same bytes as every old one. */
  readonly hasSameFrames: boolean
}

/** Descriptors that state nothing about the coding: a language, a name, an owner, a role, access. */
const NEUTRAL: ReadonlySet<number> = new Set([
  // ISO/IEC 13818-1: registration, alignment, access, language, clock, copyright, private data, first bytes of a standard
  ...[0x05, 0x06, 0x09, 0x0a, 0x0b, 0x0d, 0x0f],
  // ETSI EN 300 468: component, stream identifier, private data
  ...[0x50, 0x52, 0x5f],
])
/** Bounds of the bit rate and of buffers, which hold as long as frames keep their size. */
const BOUNDS: ReadonlySet<number> = new Set([0x0c, 0x0e, 0x10, 0x11])
/** Coding of MPEG audio, AC-3 and E-AC-3 of DVB and ATSC, AAC of DVB and MPEG. */
const [MPEG_AUDIO, DVB_AC3, DVB_EAC3, ATSC_AC3, DVB_AAC, MPEG_4_AUDIO] = [0x03, 0x6a, 0x7a, 0x81, 0x7c, 0x1c]
/** A descriptor with a second tag, and that of a supplementary sound. */
const [EXTENSION, SUPPLEMENTARY] = [0x7f, 0x06]

/** The reason why a table would state wrong facts about new sound; undefined if all of them stay true. */
export function untrueFact(table: ProgramTable, entry: ProgramEntry, facts: NewFacts): string | undefined {
  const wrong = entry.descriptors.find((descriptor) => !staysTrue(descriptor, facts))
  if (wrong) return `its descriptor ${wrong.tag} may state facts about the old sound`
  const bound = table.descriptors.find(({ tag }) => BOUNDS.has(tag))
  if (bound && !facts.hasSameFrames) return `its descriptor ${bound.tag} states a bit rate`
  return undefined
}

function staysTrue({ tag, body }: Descriptor, { codec, bitRate, hasSameFrames }: NewFacts): boolean {
  if (NEUTRAL.has(tag)) return true
  if (BOUNDS.has(tag)) return hasSameFrames
  switch (tag) {
    case MPEG_AUDIO:
      // Version and layer stay; the last flag allows other rates.
      return codec === 'mp2' || codec === 'mp3'
    case DVB_AC3:
      return codec === 'ac3' && isPlainDolby(body)
    case DVB_EAC3:
      return codec === 'eac3' && isPlainDolby(body)
    case ATSC_AC3:
      return codec === 'ac3' && isTrueAtsc(body, bitRate)
    case DVB_AAC:
    case MPEG_4_AUDIO:
      // Profile and level are those of the old sound, which has the same channels and rate.
      return codec === 'aac' && body.length <= 3
    case EXTENSION:
      return body[0] === SUPPLEMENTARY
    default:
      return false
  }
}

/** Type, version and services, which stay; not mixing or further streams, which an encoder does not write. */
function isPlainDolby(body: Buffer): boolean {
  const flags = body[0] ?? 0
  const hasVersion = (flags & 0x40) !== 0
  const version = hasVersion ? body[((flags & 0x80) !== 0 ? 1 : 0) + 1] : undefined
  return (flags & 0x0f) === 0 && (version === undefined || version === 8 || version === 16)
}

const [ATSC_UPPER_BOUND, DOLBY_SURROUND, ATSC_VERSION] = [32, 2, 8]

/** Version, bit rate, kind of stereo and of service (ATSC A/52, A4.3). */
function isTrueAtsc(body: Buffer, bitRate: number | null): boolean {
  // GStreamer writes the whole descriptor into a second one.
  if (body[0] === ATSC_AC3 && body[1] === body.length - 2) return isTrueAtsc(body.subarray(2), bitRate)
  if (body.length < 3 || bitRate === null) return false
  const [rateAndVersion, rateAndSurround, service] = [body[0] as number, body[1] as number, body[2] as number]
  const code = rateAndSurround >> 2
  const stated = (AC3_STEPS[code % ATSC_UPPER_BOUND] ?? 0) * 1000
  const isRate = code < ATSC_UPPER_BOUND ? bitRate === stated : bitRate <= stated
  const isPlain = (rateAndSurround & 3) !== DOLBY_SURROUND && service >> 5 === 0
  return (rateAndVersion & 31) === ATSC_VERSION && isRate && isPlain
}
