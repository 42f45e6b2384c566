import { rm } from 'node:fs/promises'
import { linkedAbort } from '../../core/abort.js'
import type { JobFailedError } from '../../core/errors.js'
import { type MediaInfo, probe } from '../../media/index.js'
import { DEFAULT_SERVICE_LIMITS, type Limits, refusalError, runRules, subjectOfMedia } from '../../precheck/index.js'
import { type VoicePool, VoiceTally } from '../../voice/index.js'
import type { EngineRequest } from '../work/file-engine.js'
import { fileError } from './file-error.js'
import { type FilePart, filePart } from './file-part.js'
import { writeResult } from './write-result.js'

type OptionalHere = 'media' | 'signal' | 'onProgress'

/** A request to the engine. If `media` is not known, it is probed. An output is replaced, and removed on failure. */
interface ProcessFileOptions extends Omit<EngineRequest, OptionalHere>, Partial<Pick<EngineRequest, OptionalHere>> {
  readonly pool: VoicePool
  /** Limits of the accepted files; default: {@link DEFAULT_SERVICE_LIMITS}. */
  readonly limits?: Limits | undefined
  /** Time limit for the whole file; none by default. */
  readonly timeoutMs?: number | undefined
}

/**
 * Regenerates the voice of a media file. The output has the same length and alignment, exact to the sample. In a video,
 * every other stream is a stream copy.
 *
 * @returns the usual extension of the output, without a dot
 * @throws {PrecheckError} with the interface's `errorCode` if the file fails validation (-2 … -18)
 * @throws {JobFailedError} with -14 (part outside the file), -1 (engine crashed) or -12 (deadline)
 * @throws {InterruptedError} on abort
 */
export async function processFile(options: ProcessFileOptions): Promise<{ readonly extension: string }> {
  return abortAfter(options, async (signal) => {
    const { input, output, limits = DEFAULT_SERVICE_LIMITS } = options
    const media = options.media ?? (await probe(input, { signal }))
    const part = filePart(media, options.startSec, options.endSec)
    validate(media, part, limits)
    const tally = new VoiceTally()
    const onProgressSec = progressTo(options.onProgress, part ? part.durationSec : media.durationSec)
    try {
      const extension = await writeResult({ ...options, media, part, signal, tally, onProgressSec })
      const voice = tally.amount.durationSec > 0 ? tally.amount : null
      // The engine measures the voice while it works. An earlier check would read the file twice.
      if (voice) validate(media, part, limits, voice.voicedSec)
      options.onProgress?.(100)
      return { extension }
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

/** Converts processed seconds to a percentage that never falls. Writing the output takes the last percent. */
function progressTo(onProgress: ((percent: number) => void) | undefined, durationSec: number | null) {
  let last = 0
  return (doneSec: number) => {
    const percent = durationSec ? Math.min(99, Math.floor((doneSec / durationSec) * 99)) : 0
    if (percent <= last) return
    last = percent
    onProgress?.(percent)
  }
}

/**
 * Runs a task that ends when the caller's signal aborts or the deadline passes.
 *
 * @throws {JobFailedError} ERR_PROCESSING_TIMEOUT (-12) when the deadline passes; also every error of the task
 */
async function abortAfter<T>(
  { input, timeoutMs, signal }: Pick<ProcessFileOptions, 'input' | 'timeoutMs' | 'signal'>,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { controller, release } = linkedAbort(signal)
  let late: JobFailedError | undefined
  const expire = () => {
    const message = `${input} was not processed within ${(timeoutMs ?? 0) / 1000} s.`
    late = fileError(-12, 'ERR_PROCESSING_TIMEOUT', message, { input })
    controller.abort(late)
  }
  const timer = timeoutMs === undefined ? undefined : setTimeout(expire, timeoutMs)
  try {
    return await work(controller.signal)
  } catch (error) {
    // Every error after the deadline is a consequence of the abort.
    throw late ?? error
  } finally {
    clearTimeout(timer)
    release()
  }
}
