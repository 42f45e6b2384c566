import { resolveConfig } from '../../src/config/resolve-config.js'
import { probe } from '../../src/media/index.js'
import { settingsOfConfig } from '../../src/pipeline/plan/job-settings.js'
import { judge } from '../../src/pipeline/plan/judge.js'
import { planTracks } from '../../src/pipeline/plan/plan-tracks.js'
import { flagsOfRequest, type JobRequestFile } from '../../src/pipeline/queue/job-request.js'
import { refusalError } from '../../src/precheck/index.js'

/** A rendition's sound, which will be sent as a WAV of its own. */
interface WholeSound {
  /** The playlist of the rendition, for messages. */
  readonly path: string
  readonly durationSec: number
}

/** Requires that a sound will be accepted. @param wave the beginning of it */
export type AcceptSound = (wave: string, sound: WholeSound, signal: AbortSignal | undefined) => Promise<void>

/**
 * Accepts a sound if a job with these settings does: as many channels, as long, with these segments.
 *
 * @throws PrecheckError of the refusal; UsageError `ERR_SEGMENT_OUTSIDE`
 */
export function acceptedBy(job: Omit<JobRequestFile, 'input' | 'output'>): AcceptSound {
  return async (wave, { path, durationSec }, signal) => {
    const flags = flagsOfRequest({ ...job, input: wave })
    const config = await resolveConfig({ cwd: process.cwd(), env: process.env, flags })
    const { segments = [], force = false } = job
    const settings = settingsOfConfig(config, { segments, force, previewSec: null })
    const { streams, ...beginning } = await probe(wave, { signal })
    const media = { ...beginning, path, durationSec, streams: streams.map((stream) => ({ ...stream, durationSec })) }
    const tracks = planTracks(media, settings, config.limits)
    const refused = refusalError(path, judge(media, tracks, settings, config.limits).asSent)
    if (refused) throw refused
  }
}
