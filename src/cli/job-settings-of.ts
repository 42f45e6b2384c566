import type { Config } from '../config/index.js'
import { UsageError } from '../core/errors.js'
import { type JobSettings, settingsOfConfig } from '../pipeline/plan/job-settings.js'
import { readSegments } from '../pipeline/plan/read-segments.js'
import { durationFlag, type RunArguments } from './arguments/run-options.js'

/** The settings of each job of a command, from the configuration and the flags. */
export async function jobSettingsOf(config: Config, args: RunArguments, cwd: string): Promise<JobSettings> {
  return settingsOfConfig(config, {
    segments: await readSegments(args.segment ?? [], cwd),
    previewSec: args.preview === undefined ? null : previewSecOf(args.preview),
    force: args.force ?? false,
  })
}

/** Rejects a preview of 0 s, which would be a finished file without any regenerated audio. */
function previewSecOf(text: string): number {
  const sec = durationFlag('--preview', text)
  if (sec > 0) return sec
  throw new UsageError('ERR_USAGE', `--preview takes a duration longer than 0, such as 30s, not "${text}".`, {
    remedies: ['Leave out --preview to regenerate the whole file.'],
  })
}
