import { type AudioStreamInfo, lateSecOf, type MediaInfo } from '../media-info.js'
import type { BytePlan } from './byte-plan.js'
import type { Census } from './census.js'
import type { AudioEncoding } from './encode/audio-encoding.js'
import type { LevelFields } from './level/level-field.js'
import type { SpliceableTrack } from './splice/old-packets.js'

/** The writers, in the order in which voxmux asks them. The last one accepts every file. */
export const WRITER_NAMES = [
  'pcm-in-place',
  'iso-bmff',
  'matroska',
  'avi',
  'transport',
  'program',
  'chunks',
  'frames',
  'remux',
] as const

export type WriterName = (typeof WRITER_NAMES)[number]

/** A track that gets a new voice, with its encoding. */
export interface WantedTrack {
  readonly input: AudioStreamInfo
  readonly encoding: AudioEncoding
  /** Channels of the new voice; a downmix has fewer than the input. */
  readonly channels: number
}

/** Request to a writer. The container, all other streams and the order of tracks stay unchanged. */
export interface Wanted {
  readonly media: MediaInfo
  /** In file order. The donor of a track has the track's place in this list. */
  readonly tracks: readonly WantedTrack[]
}

/** A side file that ffmpeg encodes a new voice into: one track, sample 0 on the original track's first sample. */
export interface DonorFormat {
  /** ffmpeg's `-f`. */
  readonly muxer: string
  /** Further options of the output, e.g. `-movflags`. */
  readonly options: readonly string[]
  /** Samples of the new voice that are skipped if the track starts late. */
  readonly skipSamples: number
  /** Samples to encode; silence fills a shorter voice. Null for all. */
  readonly sampleCount: number | null
  /**
   * `signalled` (default): the format states how much of a lossy encoder's priming to skip. `trimmed`: it cannot. The
   * priming then replaces the first samples of the voice.
   */
  readonly priming?: 'signalled' | 'trimmed'
  /** Set if integers of 32 bits carry only 24: the lowest byte of each stays zero. */
  readonly hasHighBytesOnly?: boolean
  /** Set if the writer fits the sound into old places, so that ffmpeg reads other packets from the output. */
  readonly becomesOtherPackets?: true
}

/** Samples of a new voice that lie before its track, as {@link DonorFormat.skipSamples}. */
export function lateSamples(media: MediaInfo, input: AudioStreamInfo): number {
  return Math.max(0, Math.round(lateSecOf(media, input) * input.sampleRate))
}

/** A writer's answer before anything is sent. */
export type Survey =
  | {
      readonly kind: 'takes'
      /** Accounts for every byte of the input. */
      readonly census: Census
      /** Streams that the output lacks, by their index in the input; the census lists their structures as lost. */
      readonly lostStreams?: ReadonlySet<number>
      /** Statements about the level of the first wanted track, which `layOut` copies and the output renews. */
      readonly levels?: LevelFields
      /** By place in {@link Wanted.tracks}. */
      readonly donors: readonly DonorFormat[]
    }
  /** voxmux asks the next writer. The plan shows the reason: "its second mdat overlaps the first". */
  | { readonly kind: 'declines'; readonly reason: string }

/** Declines a file. @param reason that the plan shows */
export function declines(reason: string): Extract<Survey, { readonly kind: 'declines' }> {
  return { kind: 'declines', reason }
}

/** Reason against a file whose structure does not show which of its tracks is the wanted one. */
export const UNKNOWN_TRACK = 'voxmux cannot identify the track in the file'

/**
 * A writer of a container family. It reads structure in `parse` and `readDonor`; its decisions are pure functions.
 *
 * @template Parsed structure of an input
 * @template Donor packets of a side file
 */
export interface Writer<Parsed, Donor> {
  readonly name: WriterName
  /**
   * Reads the structure of the input with positional reads. Null for a file of another family, a text for one that it
   * cannot write: the reason for the plan.
   *
   * @throws MalformedFile
   */
  readonly parse: (media: MediaInfo, signal?: AbortSignal) => Promise<Parsed | string | null>
  /** Decides if this writer supports the whole file, and the fate of each structure. Pure. */
  readonly survey: (parsed: Parsed, wanted: Wanted) => Survey
  /** Reads the places of the packets of a side file. @throws MalformedFile */
  readonly readDonor: (
    path: string,
    track: WantedTrack,
    signal: AbortSignal | undefined,
    parsed: Parsed,
  ) => Promise<Donor>
  /** Lists the packets of a wanted track, so that some of them can be replaced; or the reason why they cannot. */
  readonly splice?: (parsed: Parsed, wanted: Wanted, place: number) => Promise<SpliceableTrack<Donor> | string>
  /** Lays the output out. Donors by place in {@link Wanted.tracks}. Pure. Runs if `survey` accepted the file. */
  readonly layOut: (parsed: Parsed, wanted: Wanted, donors: readonly Donor[]) => BytePlan
}
