import { ID } from '../../../probe/matroska/ids.js'
import { childOf, childrenOf, type Element, floatIn, textIn, uintIn } from './element.js'

/** A track as its entry states it. */
export interface TrackEntry {
  readonly element: Element
  /** Number in blocks and cues. */
  readonly number: number
  /** Number in tags and chapters, in hexadecimal: it may have 64 bits. */
  readonly uid: string
  readonly isAudio: boolean
  readonly codecId: string
  readonly codecPrivate: Buffer | null
  /** Priming of the codec in nanoseconds: its blocks have times that are later by so much. */
  readonly codecDelayNs: number
  readonly sampleRate: number
  readonly isEncrypted: boolean
  /** True if its blocks are compressed, for example without bytes that all of them begin with. */
  readonly isEncoded: boolean
}

const AUDIO = 2
const ENCRYPTION = 1
/** The rate of a track that states none. */
export const DEFAULT_SAMPLE_RATE = 8000

/** Reads the entries of a list of tracks, in file order. */
export function readTracks(tracks: Element): readonly TrackEntry[] {
  return childrenOf(tracks, ID.TrackEntry).map((element) => {
    const audio = childOf(element, ID.Audio)
    const encodings = childrenOf(childOf(element, ID.ContentEncodings), ID.ContentEncoding)
    return {
      element,
      number: uintIn(element, ID.TrackNumber) ?? 0,
      uid: uidOf(childOf(element, ID.TrackUID)),
      isAudio: uintIn(element, ID.TrackType) === AUDIO,
      codecId: textIn(element, ID.CodecID),
      codecPrivate: childOf(element, ID.CodecPrivate)?.body ?? null,
      codecDelayNs: uintIn(element, ID.CodecDelay) ?? 0,
      sampleRate: floatIn(audio, ID.SamplingFrequency) ?? DEFAULT_SAMPLE_RATE,
      isEncrypted: encodings.some((encoding) => uintIn(encoding, ID.ContentEncodingType) === ENCRYPTION),
      isEncoded: encodings.length > 0,
    }
  })
}

/** A unique number in hexadecimal; empty without one. */
export function uidOf(element: Element | undefined): string {
  return element?.body.toString('hex').replace(/^0+/, '') ?? ''
}

/** The speed of a track's clock against that of the segment; all but very old files have 1. */
export function clockSpeed({ element }: TrackEntry): number {
  return floatIn(element, ID.TrackTimestampScale) ?? 1
}
