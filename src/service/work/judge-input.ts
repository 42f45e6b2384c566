import { blamingFile } from '../../media/ffmpeg/blaming-file.js'
import { unreadable } from '../../media/ffmpeg/ffmpeg-failure.js'
import { audioStreams, type MediaInfo, pictureOf, probe } from '../../media/index.js'
import { type Limits, refusalError, runRules, subjectOfMedia } from '../../precheck/index.js'
import { decodedEndSec } from '../engine/decoded-end.js'
import { filePart } from '../engine/file-part.js'
import type { FileRecord } from '../store/file-record.js'

/** A file that is decoded this far beyond the credits costs more than these, even when rounded to a millisecond. */
const SURELY_MORE_SEC = 0.01

interface JudgeOptions {
  readonly limits: Limits
  /** Seconds that the user may still have processed; null: unlimited. Decoding stops after them. */
  readonly creditsSec: number | null
  readonly signal: AbortSignal
}

/**
 * Checks a file against the limits and measures its sound, before it is charged or processed.
 *
 * @returns its facts, the charged milliseconds of sound, and the end of the part in seconds unless it ends with the file
 * @throws {PrecheckError | JobFailedError} with the file error code of the fault (-2 … -18)
 */
export async function judgeInput(
  input: string,
  file: Pick<FileRecord, 'startSec' | 'endSec' | 'outputType'>,
  options: JudgeOptions,
) {
  const { limits, creditsSec, signal } = options
  const media = await probe(input, { signal })
  requireTaken(media, null, limits)
  const [track] = audioStreams(media)
  const startSec = file.startSec ?? 0
  const affordableSec = (creditsSec ?? Number.POSITIVE_INFINITY) + SURELY_MORE_SEC
  const allowedSec = Math.min(limits.maxDurationSec ?? Number.POSITIVE_INFINITY, affordableSec)
  // A file that is long enough must not seem too short to a user who has nearly no credits left.
  const mostSec = startSec + Math.max(allowedSec, limits.minDurationSec ?? 0)
  const { audioIndex } = track ?? { audioIndex: 0 }
  const soundSec = await blamingFile(input, signal, () =>
    decodedEndSec(media, { audioIndex, mostSec: Math.min(file.endSec ?? mostSec, mostSec), signal }),
  )
  if (track && soundSec === 0) throw unreadable(`No audio sample of ${input} can be decoded`, { input })
  const lengthSec = file.outputType === null && pictureOf(media) ? Math.max(media.durationSec ?? 0, soundSec) : soundSec
  const part = filePart({ ...media, durationSec: lengthSec }, startSec, file.endSec ?? undefined)
  requireTaken(media, part ? part.durationSec : lengthSec, limits)
  const endSec = part?.endSec ?? undefined
  const paidSec = Math.min(endSec ?? soundSec, soundSec) - startSec
  return { media, soundMs: Math.max(0, Math.round(paidSec * 1000)), endSec }
}

/** @param durationSec null: not known yet, so not checked */
function requireTaken(media: MediaInfo, durationSec: number | null, limits: Limits): void {
  const error = refusalError(media.path, runRules({ ...subjectOfMedia(media), durationSec }, limits))
  if (error) throw error
}
