import type { Config } from '../config/index.js'
import { type JobSettings, settingsOfConfig } from '../pipeline/job-settings.js'
import { readSegments } from '../pipeline/read-segments.js'
import { durationFlag, type RunArguments } from './run-options.js'

/** What the configuration and the flags of one command decide about each of its jobs. */
export async function jobSettingsOf(config: Config, args: RunArguments, cwd: string): Promise<JobSettings> {
  return settingsOfConfig(config, {
    segments: await readSegments(args.segment ?? [], cwd),
    previewSec: args.preview === undefined ? null : durationFlag('--preview', args.preview),
    force: args.force ?? false,
  })
}
