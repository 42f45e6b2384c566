import type { Config } from '../config/index.js'
import { UsageError } from '../core/errors.js'
import { type JobSettings, settingsOfConfig } from '../pipeline/job-settings.js'
import { readSegments } from '../pipeline/read-segments.js'
import { durationFlag, type RunArguments } from './run-options.js'

/** What the configuration and the flags of one command decide about each of its jobs. */
export async function jobSettingsOf(config: Config, args: RunArguments, cwd: string): Promise<JobSettings> {
  return settingsOfConfig(config, {
    segments: await readSegments(args.segment ?? [], cwd),
    previewSec: args.preview === undefined ? null : previewSecOf(args.preview),
    force: args.force ?? false,
  })
}

/** Of a preview of nothing there is nothing to hear: a finished file that nobody has regenerated. */
function previewSecOf(text: string): number {
  const sec = durationFlag('--preview', text)
  if (sec > 0) return sec
  throw new UsageError('ERR_USAGE', `--preview takes more than no time at all, not "${text}".`, {
    remedies: ['Leave --preview out to regenerate the whole file.'],
  })
}
