import type { Config } from '../config/index.js'
import type { JobSettings } from '../pipeline/job-settings.js'
import { parseSegment } from '../pipeline/segments.js'
import { durationFlag, type RunArguments } from './run-options.js'

/** What the configuration and the flags of one command decide about each of its jobs. */
export function jobSettingsOf(config: Config, args: RunArguments): JobSettings {
  return {
    preset: config.preset.name,
    recipe: config.recipe,
    segments: (args.segment ?? []).map(parseSegment),
    outputType: config.outputType,
    strict: config.strict,
    report: config.report,
    chunkSec: config.chunkSec,
    previewSec: args.preview === undefined ? null : durationFlag('--preview', args.preview),
    force: args.force ?? false,
  }
}
