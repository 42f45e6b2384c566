/**
 * The nouns shared by cut, align, splice and mux. Every sample position counts from the file's own zero
 * ({@link MediaInfo.startSec}) at the track's own sample rate; ranges are half open: `[startSample, endSample)`.
 */

import type { ClockRange } from './pcm/file-clock.js'
import type { PcmFile } from './pcm/pcm-file.js'

export interface SampleRange {
  readonly startSample: number
  readonly endSample: number
}

/**
 * The channels of a track that make one voice file.
 *
 * `all`: the track as it is. `one`: a single channel (`center` and `each`). `downmix`: the track folded to stereo.
 */
export type ChannelPick =
  | { readonly kind: 'all' }
  | { readonly kind: 'one'; readonly channel: number }
  | { readonly kind: 'downmix' }

/** One voice file to make: a part of a track on the file's clock, lossless. */
export interface CutRequest {
  /** Place among the audio streams (`0:a:N`). */
  readonly audioIndex: number
  readonly channels: ChannelPick
  /**
   * The part to cut, handles included; silence outside the track. `endSample` null: to the track's decoded end, which
   * the cut reports. Durations in headers are estimates in some containers.
   */
  readonly range: ClockRange
  /** Sample at which the reading begins, well before {@link range}; the whole track is read by default. */
  readonly readFromSample?: number | undefined
  /** Path of the file to write; the cut chooses its extension (`.flac`, or `.wav` for float and 32 bits). */
  readonly targetWithoutExtension: string
}

/** A voice file that was cut, and what it is. */
export interface VoiceCut {
  readonly request: CutRequest
  readonly path: string
  readonly format: 'flac' | 'wav'
  readonly sampleRate: number
  readonly channels: number
  /** ffmpeg's layout name of the cut. */
  readonly channelLayout: string
  /** Part that the cut covers on the file's clock, with a known end: `sampleCount` is its length. */
  readonly range: SampleRange
  readonly sampleCount: number
  readonly sizeBytes: number
  /** SHA-256, hex, of what was cut: the same voice gives the same hash whatever picture surrounds it. */
  readonly voiceHash: string
  /** Its samples, beside its file. */
  readonly pcm: PcmFile
}

/** Sound of a cut, from any source, to measure against regenerated audio. */
export type CutSound = Pick<VoiceCut, 'sampleRate' | 'channels' | 'channelLayout' | 'range' | 'sampleCount' | 'pcm'>

/** How what came back lies against what was sent. */
export interface Alignment {
  /** Samples by which the regenerated audio is late against what was sent (negative: early), at the cut's rate. Taken out. */
  readonly lagSamples: number
  /** 0 … 1, the weakest place that was voiced; 1 if all is silence. */
  readonly match: number
  readonly method: 'waveform' | 'envelope' | 'silence'
}
