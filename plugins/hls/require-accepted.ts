import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { resolveConfig } from '../../src/config/resolve-config.js'
import { UsageError } from '../../src/core/errors.js'
import { makeFolder } from '../../src/core/make-folder.js'
import { probe } from '../../src/media/index.js'
import { settingsOfConfig } from '../../src/pipeline/plan/job-settings.js'
import { judge } from '../../src/pipeline/plan/judge.js'
import { planTracks } from '../../src/pipeline/plan/plan-tracks.js'
import { flagsOfRequest, type JobRequestFile, readJobRequests } from '../../src/pipeline/queue/job-request.js'
import { refusalError } from '../../src/precheck/index.js'
import type { PackageFolder } from './package-folder.js'
import type { Rendition } from './read-package.js'
import { decodeRun, soundRuns } from './sound-run.js'

/** A rendition's sound, which will be sent as a WAV of its own. */
interface WholeSound {
  /** The playlist of the rendition, for messages. */
  readonly path: string
  /** True if an init section states the channels of all frames. */
  readonly keepsChannels: boolean
}

/** Requires that a sound will be accepted. @param wave all of it */
export type AcceptSound = (wave: string, sound: WholeSound, signal: AbortSignal | undefined) => Promise<void>

/**
 * Accepts a sound if a job with these settings does: as many channels, as long, with these segments.
 *
 * @throws PrecheckError of the refusal; UsageError `ERR_JOB_REQUEST`, `ERR_SEGMENT_OUTSIDE`, `ERR_NO_CENTER`, `ERR_NO_DOWNMIX`
 */
export function acceptedBy(job: Omit<JobRequestFile, 'input' | 'output'>): AcceptSound {
  return async (wave, { path, keepsChannels }, signal) => {
    const [request] = readJobRequests([{ ...job, input: wave }]) as [JobRequestFile]
    const flags = flagsOfRequest(request)
    const config = await resolveConfig({ cwd: process.cwd(), env: process.env, flags })
    const { segments = [], force = false } = request
    const settings = settingsOfConfig(config, { segments, force, previewSec: null })
    const media = { ...(await probe(wave, { signal })), path }
    const tracks = planTracks(media, settings, config.limits)
    const refused = refusalError(path, judge(media, tracks, settings, config.limits).asSent)
    if (refused) throw refused
    const isMixed = tracks.some(({ pieces }) => pieces.some(({ channels }) => channels.kind === 'downmix'))
    if (isMixed && keepsChannels) throw noDownmix(path, tracks[0]?.stream.channels ?? 0)
  }
}

function noDownmix(path: string, channels: number): UsageError {
  return new UsageError(
    'ERR_NO_DOWNMIX',
    `${path} states ${channels} channels in its init section, which a downmix would not have.`,
    { input: path, remedies: ['Set channels to each or center in job: the other channels then stay as they are.'] },
  )
}

interface SoundOptions {
  /** Folder for temporary files, which are removed. */
  readonly workFolder: string
  readonly accept: AcceptSound
  readonly signal: AbortSignal | undefined
}

/**
 * Decodes all sound that will be sent before any of it is. Otherwise damage in frames of the last language would only be
 * found after the first is paid for.
 *
 * @throws PrecheckError ERR_HLS_CODEC, ERR_HLS_SEGMENT; and what `accept` throws
 */
export async function requireSound(
  renditions: readonly Rendition[],
  folder: PackageFolder,
  { workFolder, accept, signal }: SoundOptions,
): Promise<void> {
  makeFolder(workFolder)
  const paths = { frames: join(workFolder, 'run.aac'), wave: join(workFolder, 'run.wav') }
  for (const rendition of renditions) {
    for (const run of await soundRuns(folder, rendition)) {
      await decodeRun({ folder, rendition, run }, paths, signal)
      const keepsChannels = run.segments.some(({ map }) => map !== null)
      await accept(paths.wave, { path: rendition.path, keepsChannels }, signal)
    }
  }
  await rm(workFolder, { recursive: true })
}
