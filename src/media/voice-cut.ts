/**
 * The nouns shared by cut, align, splice and mux. Every sample position counts from the file's own zero
 * ({@link MediaInfo.startSec}) at the track's own sample rate; ranges are half open: `[startSample, endSample)`.
 */

import type { Loudness } from './loudness-meter.js'

export interface SampleRange {
  readonly startSample: number
  readonly endSample: number
}

/**
 * Which channels of a track make one voice file.
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
   * The part to cut, handles included: silence where the track has none. `endSample` null: to the track's end as it
   * is decoded (durations in headers are estimates in some containers), and the cut tells where that was.
   */
  readonly range: { readonly startSample: number; readonly endSample: number | null }
  /** Where the file is to be written; its extension is chosen by the cut (`.flac`, or `.wav` for float and 32 bits). */
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
  /** What the cut covers on the file's clock, its end known: `sampleCount` is its length. */
  readonly range: SampleRange
  readonly sampleCount: number
  readonly sizeBytes: number
  /** SHA-256, hex, of what was cut: the same voice gives the same hash whatever picture surrounds it. */
  readonly voiceHash: string
  /** Measured while it was cut; null where several voices were cut at once. */
  readonly loudness: Loudness | null
}

/** What is measured against an answer: the sound of a cut, whatever it was cut from. */
export type CutSound = Pick<VoiceCut, 'path' | 'sampleRate' | 'channels' | 'channelLayout' | 'range' | 'sampleCount'>

/** How what came back lies against what was sent. */
export interface Alignment {
  /** Samples by which the answer is late against what was sent (negative: early), at the cut's rate. Taken out. */
  readonly lagSamples: number
  /** 0 … 1, the weakest place that was voiced; 1 where all is silence. */
  readonly match: number
  readonly method: 'waveform' | 'envelope' | 'silence'
  readonly places: readonly AlignmentPlace[]
}

export interface AlignmentPlace {
  readonly atSample: number
  readonly lagSamples: number
  readonly match: number
}
