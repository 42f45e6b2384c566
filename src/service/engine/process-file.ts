import { rm } from 'node:fs/promises'
import type { OutputType } from '../../contract/index.js'
import { type MediaInfo, probe } from '../../media/index.js'
import { DEFAULT_SERVICE_LIMITS, type Limits, refusalError, runRules, subjectOfMedia } from '../../precheck/index.js'
import { type VoiceAmount, type VoicePool, VoiceTally } from '../../voice/index.js'
import { type FilePart, filePart } from './file-part.js'
import { withDeadline } from './with-deadline.js'
import { writeResult } from './write-result.js'

export interface ProcessFileOptions {
  /** Path of the media file as it was received. */
  readonly input: string
  /** Path to write to; replaced if there, removed if the work fails. Its extension says nothing. */
  readonly output: string
  /** The part alone, in seconds on the file's own clock; the end is clamped at the file's. */
  readonly startSec?: number | undefined
  readonly endSec?: number | undefined
  /** Omitted: the original's format. Given for a video, its sound alone is written. */
  readonly outputType?: OutputType | undefined
  readonly pool: VoicePool
  /** What files are taken; default: {@link DEFAULT_SERVICE_LIMITS}. */
  readonly limits?: Limits | undefined
  /** For the whole file; none by default. */
  readonly timeoutMs?: number | undefined
  readonly signal?: AbortSignal | undefined
  /** From 0 to 100, never falling; 100 only once the output is written. */
  readonly onProgress?: ((percent: number) => void) | undefined
}

export interface ProcessedFile {
  readonly media: MediaInfo
  /** How much voice was found; null where the engine cannot tell. */
  readonly voice: VoiceAmount | null
  /** Usual extension of what was written, without a dot. */
  readonly extension: string
}

/**
 * Media file in, media file out: the same with its voice regenerated, of the same length and in the same place, to the
 * sample; in a video every other stream is untouched.
 *
 * @throws errors that carry the interface's `errorCode`: PrecheckError for a file that fails validation (-2 … -18),
 *   JobFailedError with -14 (part outside the file), -1 (engine crashed), -12 (deadline); InterruptedError on abort
 */
export async function processFile(options: ProcessFileOptions): Promise<ProcessedFile> {
  return withDeadline(options, async (signal) => {
    const { input, output, limits = DEFAULT_SERVICE_LIMITS } = options
    const media = await probe(input, { signal })
    const part = filePart(media, options.startSec, options.endSec)
    validate(media, part, limits)
    const tally = new VoiceTally()
    const onProgressSec = progressTo(options.onProgress, part ? part.durationSec : media.durationSec)
    try {
      const extension = await writeResult({ ...options, media, part, signal, tally, onProgressSec })
      const voice = tally.amount.durationSec > 0 ? tally.amount : null
      // Known only now: the engine hears the voice as it works. Reading everything twice would be the alternative.
      if (voice) validate(media, part, limits, voice.voicedSec)
      options.onProgress?.(100)
      return { media, voice, extension }
    } catch (error) {
      await rm(output, { force: true })
      throw error
    }
  })
}

function validate(media: MediaInfo, part: FilePart | undefined, limits: Limits, voicedSec: number | null = null): void {
  const whole = subjectOfMedia(media, { voicedSec })
  const subject = part ? { ...whole, durationSec: part.durationSec } : whole
  const error = refusalError(media.path, runRules(subject, limits))
  if (error) throw error
}

/** Seconds done as a percentage that never falls; the last steps are writing's. */
function progressTo(onProgress: ((percent: number) => void) | undefined, durationSec: number | null) {
  let last = 0
  return (doneSec: number) => {
    const percent = durationSec ? Math.min(99, Math.floor((doneSec / durationSec) * 99)) : 0
    if (percent <= last) return
    last = percent
    onProgress?.(percent)
  }
}
