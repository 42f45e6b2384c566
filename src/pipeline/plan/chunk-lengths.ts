import { cutEncoding } from '../../media/index.js'
import type { AudioStreamInfo } from '../../media/media-info.js'
import type { Limits } from '../../precheck/index.js'

/** Lengths of the parts in which a long voice is sent, in seconds. */
export interface ChunkLengths {
  /** Longest part sent, including its overlap with its neighbours. */
  readonly mostSec: number
  /** How far a part may reach beyond its joins. The neighbour has the same audio there. */
  readonly reachSec: number
  /** Length of the window in which the quietest pause is searched. */
  readonly searchSec: number
}

/** More audio than this does not improve the level measurement. */
const MOST_REACH_SEC = 5
/** Share of a chunk's length that it may share with a neighbour. */
const REACH_PART = 0.1
/** People pause at least once in half a minute. */
const MOST_SEARCH_SEC = 30
const SEARCH_PART = 0.25

/**
 * Decides how to divide a track's voice: as requested, and never longer than the service accepts.
 *
 * @param voice the properties of one voice file
 * @returns null if neither sets a bound
 */
export function chunkLengths(
  { chunkSec }: { readonly chunkSec: number | null },
  { maxDurationSec, maxSizeBytes }: Limits,
  { stream, channels }: { readonly stream: AudioStreamInfo; readonly channels: number },
): ChunkLengths | null {
  // Uncompressed, because the ratio of FLAC is unknown beforehand.
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

/** A forecast of the parts of a voice, from its length alone. */
interface ChunkForecast {
  readonly count: number
  /** More parts than {@link count}, if all pauses are early. */
  readonly mostCount: number
  readonly longestSec: number
  /** Most seconds of all parts together. Overlaps are paid for twice. */
  readonly sentSec: number
}

/** Forecasts the number of parts of a voice of `lengthSec` seconds. */
export function chunkForecast(lengthSec: number, lengths: ChunkLengths | null): ChunkForecast {
  if (lengths === null || lengthSec <= lengths.mostSec)
    return { count: 1, mostCount: 1, longestSec: lengthSec, sentSec: lengthSec }
  const count = partCount(lengthSec, lengths)
  // A join lies at most half a window before or behind its aim, and only what is too long for one part is cut.
  const [aimSec, halfSec] = [lengthSec / count, lengths.searchSec / 2]
  const mostCount = 1 + Math.ceil((lengthSec - aimSec - halfSec) / (aimSec - halfSec))
  const sentSec = lengthSec + (mostCount - 1) * 2 * lengths.reachSec
  return { count, mostCount, longestSec: lengths.mostSec, sentSec }
}

/** The smallest number of parts that keeps each one short enough, wherever the joins fall in their windows. */
export function partCount(lengthSec: number, { mostSec, reachSec, searchSec }: ChunkLengths): number {
  return Math.ceil(lengthSec / (mostSec - 2 * reachSec - searchSec))
}
