import { formatTime } from '../../core/time.js'
import type { AudioStreamInfo, ClockRange, MediaInfo } from '../../media/index.js'
import { fileError } from './file-error.js'

/** The part of a file to process. */
export interface FilePart {
  readonly startSec: number
  readonly endSec: number | null
  /** Null if the file does not state its length. */
  readonly durationSec: number | null
}

/**
 * Returns the requested part, clamped at the file's end, or undefined for the whole file.
 *
 * @throws {JobFailedError} ERR_SEGMENT_OUTSIDE (-14) if the part begins beyond the file
 */
export function filePart(media: MediaInfo, startSec = 0, endSec?: number): FilePart | undefined {
  const { durationSec } = media
  if (startSec <= 0 && (endSec === undefined || (durationSec !== null && endSec >= durationSec))) return undefined
  if (durationSec !== null && startSec >= durationSec) {
    const message = `The part begins at ${formatTime(startSec)}, but the file ends at ${formatTime(durationSec)}.`
    throw fileError(-14, 'ERR_SEGMENT_OUTSIDE', message, { input: media.path })
  }
  const end = endSec === undefined || (durationSec !== null && endSec >= durationSec) ? null : endSec
  const last = end ?? durationSec
  return { startSec, endSec: end, durationSec: last === null ? null : last - startSec }
}

/** The part in samples of a track. */
export function rangeOfPart(part: FilePart, { sampleRate }: AudioStreamInfo): ClockRange {
  return {
    startSample: Math.round(part.startSec * sampleRate),
    endSample: part.endSec === null ? null : Math.round(part.endSec * sampleRate),
  }
}
