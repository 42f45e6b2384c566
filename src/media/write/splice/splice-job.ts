import type { AudioStreamInfo, MediaInfo } from '../../media-info.js'
import type { PcmStream } from '../../pcm/pcm.js'
import type { SampleRange } from '../../voice-cut.js'
import type { AudioEncoding } from '../encode/audio-encoding.js'
import type { SpliceableTrack } from './old-packets.js'

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
  /** The side file that takes the new packets. */
  readonly donorPath: string
  /** Makes the path of a temporary file. */
  readonly scratch: () => string
  readonly signal: AbortSignal | undefined
}

/** Thrown to leave a splice that does not hold; its message is the reason. */
export class NoSplice extends Error {}
