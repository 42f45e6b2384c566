import type { Config, Flags } from '../config/resolve-config.js'
import { type ErrorReport, errorReport, toVoxmuxError } from '../core/errors.js'
import { audioStreams } from '../media/index.js'
import { checkFile } from '../pipeline/job/check-file.js'
import { requireFreeOutput } from '../pipeline/output/require-free-output.js'
import { planJob } from '../pipeline/plan/plan-job.js'
import { leastGapSec, noisyRanges } from '../pipeline/plan/ranges-to-send.js'
import {
  flagsOfRequest,
  type JobRequestFile,
  planRequestOfJob,
  readJobRequests,
} from '../pipeline/queue/job-request.js'
import { planRefusal, pricedPlan } from '../pipeline/voice/narrow-plan.js'
import { describeTracks, subjectTrack } from '../precheck/index.js'

/** Resolves the configuration with the settings of a job on top. */
export type ConfigOf = (flags: Flags) => Promise<Config>

/** Reads a job of the page. @throws {UsageError} for a wrong setting */
async function askedJob(value: unknown, configOf: ConfigOf, cwd: string) {
  const [job] = readJobRequests([value]) as [JobRequestFile]
  const config = await configOf(flagsOfRequest(job))
  return { config, request: planRequestOfJob(job, config, { cwd, group: 'ui' }) }
}

/** The pre-check of a file for the page, with the map of voice and noise that `voxmux check` prints. */
export async function checkView(value: unknown, configOf: ConfigOf, cwd: string, signal: AbortSignal) {
  const { config, request } = await askedJob(value, configOf, cwd)
  const service = { limits: config.limits, isEmbedded: config.service.kind === 'embedded' }
  const { file } = await checkFile(request.input, request.settings, service, signal)
  const { input, status, error, verdicts, media, map, writing } = file
  return {
    ...{ input, status, error, verdicts: verdicts.asSent, losses: writing?.losses ?? [] },
    media: media && {
      ...{ container: media.container, durationSec: media.durationSec, sizeBytes: media.sizeBytes },
      tracks: audioStreams(media).map((stream) => ({
        ...{ index: stream.audioIndex, channels: stream.channels },
        label: describeTracks([subjectTrack(stream)]),
      })),
    },
    map: map && { ...map, noisy: noisyRanges(map, leastGapSec(request.settings.recipe)) },
  }
}

/** The plan of a job for the page: what `voxmux run --dry-run` says of it. */
export async function planView(value: unknown, configOf: ConfigOf, cwd: string, signal: AbortSignal) {
  const { config, request } = await askedJob(value, configOf, cwd)
  const { limits } = config
  const isFree = config.service.kind === 'embedded'
  try {
    const plan = await pricedPlan(await planJob(request, limits, { signal }), request, limits, signal)
    const { output, paidSec, sendBytes, notes, copyReason } = plan
    let refusal: ErrorReport | null = null
    try {
      const refused = planRefusal(plan)
      if (refused) throw refused
      await requireFreeOutput(plan, request, signal)
    } catch (thrown) {
      refusal = errorReport(toVoxmuxError(thrown, request.input))
    }
    const allNotes = copyReason === null ? notes : [...notes, copyReason]
    return { isFree, output, paidSec, sendBytes, losses: plan.mux.losses, notes: allNotes, refusal }
  } catch (thrown) {
    const refusal = errorReport(toVoxmuxError(thrown, request.input))
    return { isFree, output: null, paidSec: null, sendBytes: 0, losses: [], notes: [], refusal }
  }
}
