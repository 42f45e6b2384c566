import type { Config } from '../config/index.js'
import type { JobSettings } from '../pipeline/job-settings.js'
import { readSegments } from '../pipeline/read-segments.js'
import { durationFlag, type RunArguments } from './run-options.js'

/** What the configuration and the flags of one command decide about each of its jobs. */
export async function jobSettingsOf(config: Config, args: RunArguments, cwd: string): Promise<JobSettings> {
  return {
    preset: config.preset.name,
    recipe: config.recipe,
    segments: await readSegments(args.segment ?? [], cwd),
    outputType: config.outputType,
    strict: config.strict,
    report: config.report,
    chunkSec: config.chunkSec,
    previewSec: args.preview === undefined ? null : durationFlag('--preview', args.preview),
    force: args.force ?? false,
  }
}
