import { z } from 'zod'
import type { Config } from '../../config/index.js'
import { recipeSchema } from '../../config/preset-schema.js'
import { outputTypeSchema } from '../../contract/index.js'
import { valueSha256 } from '../../core/file-identity.js'
import { segmentSchema } from './segments.js'

/** All settings of a job except its input, resolved: every default is filled in. A queued job stores them. */
export const jobSettingsSchema = z.object({
  /** Name or path of the preset, for people and the receipt. */
  preset: z.string(),
  recipe: recipeSchema,
  /** Parts to regenerate; empty for the whole file. */
  segments: z.array(segmentSchema).readonly(),
  /** Format of the output of an audio file; null for the file's own. */
  outputType: outputTypeSchema.nullable(),
  /** Refuses files that would lose anything. */
  strict: z.boolean(),
  report: z.boolean(),
  /** Signs the output with Content Credentials. Absent: no. */
  signed: z.boolean().optional(),
  /** Sends long files in parts of about this length; null for one piece. */
  chunkSec: z.number().nullable(),
  /** Regenerates only this many seconds; null for all. */
  previewSec: z.number().nullable(),
  /** Replaces an existing output. */
  force: z.boolean(),
})
export type JobSettings = Readonly<z.infer<typeof jobSettingsSchema>>

/** The settings of a configuration, with the decisions for a single job. */
export function settingsOfConfig(
  { preset, recipe, outputType, strict, report, chunkSec, credentials }: Config,
  own: Pick<JobSettings, 'segments' | 'previewSec' | 'force'>,
): JobSettings {
  const signed = credentials !== null && { signed: true }
  return { preset: preset.name, recipe, outputType, strict, report, chunkSec, ...signed, ...own }
}

/** Hash of the settings that decide the output. Those for checks and messages do not make a file stale. */
export function recipeHash(settings: JobSettings, serviceIdentity: string): string {
  const { verify: _verify, qc: _qc, mix, bed, onlyNoisy, skipClean, addTrack, ...recipe } = settings.recipe
  const { segments, outputType, chunkSec, previewSec, signed } = settings
  // Defaults are left out, so that outputs from before these settings keep their hash.
  const later = {
    ...(mix !== 100 && { mix }),
    ...(bed !== 'keep' && { bed }),
    ...(onlyNoisy && { onlyNoisy }),
    ...(skipClean && { skipClean }),
    ...(addTrack && { addTrack }),
    ...(signed && { signed }),
  }
  return valueSha256({ recipe, ...later, segments, outputType, chunkSec, previewSec, serviceIdentity })
}
