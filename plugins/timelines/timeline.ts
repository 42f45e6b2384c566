import type { Rational } from './time/rational.js'
import type { TimeRange } from './time/time-range.js'

/** Common form of all timelines, independent of the file format. Times are exact seconds. */
export interface Timeline {
  readonly sources: readonly TimelineSource[]
  /** Every stretch of sound that is played, in the order of the file. */
  readonly uses: readonly ClipUse[]
  /** Findings that a person should read. */
  readonly notes: readonly TimelineNote[]
  /**
   * The same timeline over other media, by source id; every byte that need not change is kept. In a format in which
   * each clip names its file, `regenerated` tells which clips get the new one; default: all of them.
   */
  readonly relink: (media: ReadonlyMap<string, RelinkedMedia>, regenerated?: ReadonlySet<ClipUse>) => string
}

/** A media file as a timeline names it. */
export interface TimelineSource {
  /** Unique within the timeline. */
  readonly id: string
  /** For people, and to look for where no path leads to it. */
  readonly name: string
  /** Its expected path, absolute or relative to the timeline; empty if only a name is known. */
  readonly paths: readonly string[]
  /** Time of the timeline's clock at the first sample of the file; null: the file's own timecode. */
  readonly origin: Rational | null
}

/** A stretch of a source that is heard. */
export interface ClipUse {
  readonly sourceId: string
  /** The clip, as the timeline calls it. */
  readonly clip: string
  /** On the source's clock: see {@link TimelineSource.origin}. */
  readonly range: TimeRange
  /** True if the timecodes of the range were counted in drop frame; undefined if it was not read from timecodes. */
  readonly dropFrame?: boolean | undefined
}

/** Kinds of what is handled in a way worth knowing, or left as it is. Closed: programs switch on it. */
export const NOTE_KINDS = [
  'speed',
  'disabled',
  'generator',
  'role',
  'picture-only',
  'missing-reference',
  'offline',
  'ambiguous',
  'no-sound',
  'outside',
  'excluded',
  'proxy',
  'nested-file',
  'unread',
  'frame-rate',
  'kept',
  'again',
  'undone',
] as const

export interface TimelineNote {
  readonly kind: (typeof NOTE_KINDS)[number]
  /** The clip or file it is about. */
  readonly subject: string
  readonly message: string
}

/** A media file that takes another's place. */
export interface RelinkedMedia {
  /** Absolute path of the new file. */
  readonly path: string
  /** Absolute path of the file that it was made from. */
  readonly original: string
  /** Its relative path, if the timeline has a relative one of the old file; see `pathBeside`. */
  readonly relativePath?: string | undefined
  /** Its name in a bundle, with `/` between folders; without one, the timeline leads to the path. */
  readonly packedName?: string | undefined
}
