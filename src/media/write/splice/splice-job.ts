import type { AudioStreamInfo, MediaInfo } from '../../media-info.js'
import type { PcmStream } from '../../pcm/pcm.js'
import type { SampleRange } from '../../voice-cut.js'
import type { AudioEncoding } from '../encode/audio-encoding.js'
import type { SpliceableTrack } from './old-packets.js'

/** Makes paths of temporary files. */
export interface SideFolder {
  readonly scratch: () => string
  /** A file with packets, and its place among those of the output. */
  readonly donor: () => { readonly path: string; readonly donor: number }
}

/** A track that is encoded in its changed parts alone. */
export interface SpliceJob {
  readonly media: MediaInfo
  readonly input: AudioStreamInfo
  readonly encoding: AudioEncoding
  /** Sample 0 is the file's zero. */
  readonly voice: PcmStream
  /** Ranges in which the voice differs from the decoded track. */
  readonly changed: readonly SampleRange[]
  readonly track: SpliceableTrack<unknown>
  readonly side: SideFolder
  readonly signal: AbortSignal | undefined
}

/** Thrown to leave a splice that does not hold; its message is the reason. */
export class NoSplice extends Error {}
