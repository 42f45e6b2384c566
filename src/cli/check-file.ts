import { randomUUID } from 'node:crypto'
import { type FileErrorCode, fileErrorCodeSchema } from '../contract/index.js'
import { type ExitCode, errorReport, toVoxmuxError, UsageError, type VoxmuxError } from '../core/errors.js'
import { type MediaInfo, probe } from '../media/index.js'
import type { FileEvent } from '../pipeline/events.js'
import { voiceVerdicts } from '../pipeline/hear-voice.js'
import type { JobSettings } from '../pipeline/job-settings.js'
import { judge, type Verdicts } from '../pipeline/judge.js'
import { planTracks, type TrackPlan } from '../pipeline/plan-tracks.js'
import { type Limits, refusalError, runRules, subjectOfMedia, type Verdict, verdict } from '../precheck/index.js'

/** What the pre-check says of one input. */
export interface CheckedFile extends FileEvent {
  readonly verdicts: Verdicts
  /** null where the file cannot be read. */
  readonly media: MediaInfo | null
}

/** A checked file, and the exit code that it alone would give. */
export interface CheckOutcome {
  readonly file: CheckedFile
  readonly exitCode: ExitCode
}

/** Checks one input without sending or writing anything. Never throws but for an abort. */
export async function checkFile(
  input: string,
  settings: JobSettings,
  limits: Limits,
  signal: AbortSignal,
): Promise<CheckOutcome> {
  let media: MediaInfo | null = null
  let verdicts: Verdicts = { asIs: [], asSent: [] }
  try {
    if (/^https?:\/\//i.test(input)) throw addressRefused(input)
    media = await probe(input, { signal })
    verdicts = { asIs: runRules(subjectOfMedia(media), limits), asSent: [] }
    const tracks = planTracks(media, settings, limits)
    verdicts = await withVoice(judge(media, tracks, settings, limits), media, tracks, limits, signal)
    return outcome(input, media, verdicts, refusalError(media.path, verdicts.asSent))
  } catch (thrown) {
    const error = toVoxmuxError(thrown, input)
    if (error.exitCode === 130) throw error
    // What cannot be read cannot be sent either way: the fault is a verdict like any other.
    const found = media === null ? verdictOf(error) : []
    const both = found.length > 0 ? { asIs: found, asSent: found } : verdicts
    return outcome(input, media, both, error)
  }
}

/** Listens for a voice where nothing else is wrong: that takes a while, and would only hide what matters more. */
async function withVoice(
  judged: Verdicts,
  media: MediaInfo,
  [first]: readonly TrackPlan[],
  limits: Limits,
  signal: AbortSignal,
): Promise<Verdicts> {
  if (!first || refusalError(media.path, judged.asSent)) return judged
  const heard = await voiceVerdicts(media.path, first.stream.audioIndex, limits, signal)
  return { asIs: [...judged.asIs, ...heard], asSent: [...judged.asSent, ...heard] }
}

function outcome(
  input: string,
  media: MediaInfo | null,
  verdicts: Verdicts,
  error: VoxmuxError | undefined,
): CheckOutcome {
  const status = error === undefined ? 'done' : error.exitCode === 5 ? 'rejected' : 'failed'
  const file: CheckedFile = {
    event: 'file',
    id: randomUUID(),
    input,
    status,
    output: null,
    receipt: null,
    error: error ? errorReport(error) : null,
    verdicts,
    media,
  }
  return { file, exitCode: error?.exitCode ?? 0 }
}

function verdictOf({ errorCode, message, remedies }: VoxmuxError): readonly Verdict[] {
  const code = fileErrorCodeSchema.safeParse(errorCode)
  return code.success ? [verdict(code.data satisfies FileErrorCode, message, 'refuse', remedies)] : []
}

function addressRefused(input: string): UsageError {
  return new UsageError('ERR_CHECK_ADDRESS', 'An address cannot be checked before it is downloaded.', {
    input,
    remedies: ['Download the file first, or run it with --dry-run.'],
  })
}
