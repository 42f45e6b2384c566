import { randomUUID } from 'node:crypto'
import { type FileErrorCode, fileErrorCodeSchema } from '../../contract/index.js'
import { toVoxmuxError, UsageError, type VoxmuxError } from '../../core/errors.js'
import { redactUrl } from '../../core/redact.js'
import { type MediaInfo, probe } from '../../media/index.js'
import { type Limits, refusalError, runRules, subjectOfMedia, type Verdict, verdict } from '../../precheck/index.js'
import type { VoiceMap } from '../../voice/index.js'
import type { PipelineContext } from '../context.js'
import type { FileEvent } from '../events.js'
import type { JobSettings } from '../plan/job-settings.js'
import { judge, type Verdicts } from '../plan/judge.js'
import { checkWriting } from '../plan/plan-job.js'
import { planTracks, type TrackPlan } from '../plan/plan-tracks.js'
import { MOST_MAPPED_SEC, mapTrack } from '../voice/map-track.js'
import { mappedVoiceVerdicts, noVoiceVerdicts } from '../voice/no-voice-verdicts.js'
import { isWebAddress } from '../web-address.js'
import { eventWithoutOutput, statusOf } from './job-outcome.js'

/** The result of the pre-check of one input. */
export interface CheckedFile extends FileEvent {
  readonly verdicts: Verdicts
  /** Null if the file cannot be read. */
  readonly media: MediaInfo | null
  /** The writer of the output, the census of the input and what would be lost; null if the file is refused. */
  readonly writing: Awaited<ReturnType<typeof checkWriting>> | null
  /** Voice and noise of the first track, second by second; null if the file is refused, long or of unknown length. */
  readonly map: VoiceMap | null
}

/** The service that would get the voice. The embedded one requires a voice. */
type CheckedService = Pick<PipelineContext, 'limits' | 'isEmbedded'>

/** Checks one input without sending or writing anything. Throws only when it is aborted. @returns its own exit code too */
export async function checkFile(input: string, settings: JobSettings, service: CheckedService, signal: AbortSignal) {
  const requireVoice = settings.recipe.voice.requireVoice || service.isEmbedded
  const limits = { ...service.limits, requireVoice }
  let media: MediaInfo | null = null
  let verdicts: Verdicts = { asIs: [], asSent: [] }
  try {
    if (isWebAddress(input)) throw addressRefused(input)
    media = await probe(input, { signal })
    verdicts = { asIs: runRules(subjectOfMedia(media), limits), asSent: [] }
    const tracks = planTracks(media, settings, limits)
    verdicts = judge(media, tracks, settings, limits)
    const refused = refusalError(media.path, verdicts.asSent)
    if (refused) return outcome(input, refused, { media, verdicts })
    const { heard, map } = await listen(media, tracks, limits, signal)
    verdicts = { asIs: [...verdicts.asIs, ...heard], asSent: [...verdicts.asSent, ...heard] }
    const voiceless = refusalError(media.path, verdicts.asSent)
    if (voiceless) return outcome(input, voiceless, { media, verdicts })
    const writing = await checkWriting(media, tracks, settings, signal)
    return outcome(input, undefined, { media, verdicts, writing, map })
  } catch (thrown) {
    const error = toVoxmuxError(thrown, input)
    if (error.exitCode === 130) throw error
    // An unreadable file cannot be sent either way, so its fault counts as a verdict.
    const found = media === null ? verdictOf(error) : []
    const both = found.length > 0 ? { asIs: found, asSent: found } : verdicts
    return outcome(input, error, { media, verdicts: both })
  }
}

/**
 * Searches the first track for a voice, and maps it if that is quick. Called only if nothing else is wrong: it takes a
 * while, and its result would hide more important ones.
 */
async function listen(
  media: MediaInfo,
  [first]: readonly TrackPlan[],
  limits: Limits,
  signal: AbortSignal,
): Promise<{ readonly heard: readonly Verdict[]; readonly map: VoiceMap | null }> {
  if (!first) return { heard: [], map: null }
  const track = { path: media.path, ...first.stream }
  const { durationSec } = media
  if (durationSec === null || durationSec > MOST_MAPPED_SEC) {
    return { heard: await noVoiceVerdicts(track, limits, signal), map: null }
  }
  const map = await mapTrack(media, first.stream, signal)
  return { heard: await mappedVoiceVerdicts(track, map, limits, signal), map }
}

function outcome(
  input: string,
  error: VoxmuxError | undefined,
  found: Pick<CheckedFile, 'media' | 'verdicts'> & Partial<Pick<CheckedFile, 'writing' | 'map'>>,
) {
  const file: CheckedFile = {
    ...eventWithoutOutput({ id: randomUUID(), input }, error ? statusOf(error) : 'done', error ?? null),
    ...{ writing: null, map: null, ...found },
  }
  return { file, exitCode: error?.exitCode ?? 0 }
}

function verdictOf({ errorCode, message, remedies }: VoxmuxError): readonly Verdict[] {
  const code = fileErrorCodeSchema.safeParse(errorCode)
  return code.success ? [verdict(code.data satisfies FileErrorCode, message, 'refuse', remedies)] : []
}

/** The refusal of an address if nothing is downloaded. */
export function addressRefused(input: string): UsageError {
  return new UsageError('ERR_CHECK_ADDRESS', 'A web address cannot be checked before it is downloaded.', {
    input: redactUrl(input),
    remedies: ['Download the file first, then name the file.'],
  })
}
