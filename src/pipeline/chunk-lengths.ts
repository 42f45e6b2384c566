import { cutEncoding } from '../media/index.js'
import type { AudioStreamInfo } from '../media/media-info.js'
import type { Limits } from '../precheck/index.js'

/** How long the parts may be in which a long voice is sent, in seconds. */
export interface ChunkLengths {
  /** No part that is sent is longer, what it shares with its neighbours included. */
  readonly mostSec: number
  /** How far a part may reach beyond either of its joins: the neighbour has the same sound there. */
  readonly reachSec: number
  /** Length of the stretch in which the quietest pause is looked for. */
  readonly searchSec: number
}

/** Beyond this more sound tells no more about the level. */
const MOST_REACH_SEC = 5
/** Part of a chunk's length that it may share with a neighbour. */
const REACH_PART = 0.1
/** Within half a minute people pause. */
const MOST_SEARCH_SEC = 30
const SEARCH_PART = 0.25

/**
 * How a track's voice is divided: as the person says, and never longer than the service takes.
 *
 * @param voice what one file of it is like
 * @returns null where neither bounds it
 */
export function chunkLengths(
  { chunkSec }: { readonly chunkSec: number | null },
  { maxDurationSec, maxSizeBytes }: Limits,
  { stream, channels }: { readonly stream: AudioStreamInfo; readonly channels: number },
): ChunkLengths | null {
  // Uncompressed: how much FLAC saves is not known before.
  const bytesPerSec = (stream.sampleRate * channels * cutEncoding(stream, channels).bits) / 8
  const bounds = [chunkSec, maxDurationSec, maxSizeBytes === undefined ? undefined : maxSizeBytes / bytesPerSec]
  const mostSec = Math.min(...bounds.map((bound) => bound ?? Number.POSITIVE_INFINITY))
  if (!Number.isFinite(mostSec)) return null
  return {
    mostSec,
    reachSec: Math.min(MOST_REACH_SEC, REACH_PART * mostSec),
    searchSec: Math.min(MOST_SEARCH_SEC, SEARCH_PART * mostSec),
  }
}

/** How a voice of a given length is sent, as far as that is known before it is heard. */
export interface ChunkForecast {
  readonly count: number
  /** Longest part. */
  readonly longestSec: number
  /** All parts together, at the most: what they share is paid for twice. */
  readonly sentSec: number
}

/** Foretells into how many parts a voice of `lengthSec` goes. */
export function chunkForecast(lengthSec: number, lengths: ChunkLengths | null): ChunkForecast {
  if (lengths === null || lengthSec <= lengths.mostSec) return { count: 1, longestSec: lengthSec, sentSec: lengthSec }
  const count = partCount(lengthSec, lengths)
  return { count, longestSec: lengths.mostSec, sentSec: lengthSec + (count - 1) * 2 * lengths.reachSec }
}

/** The least number of parts between whose joins, wherever they fall in their search, none is too long. */
export function partCount(lengthSec: number, { mostSec, reachSec, searchSec }: ChunkLengths): number {
  return Math.ceil(lengthSec / (mostSec - 2 * reachSec - searchSec))
}
