import { z } from 'zod'
import type { Config } from '../../config/index.js'
import { type Recipe, recipeSchema } from '../../config/preset-schema.js'
import { type OutputType, outputTypeSchema } from '../../contract/index.js'
import { valueSha256 } from '../file-identity.js'
import { type Segment, segmentSchema } from './segments.js'

/** All settings of a job except its input, resolved: every default is filled in. */
export interface JobSettings {
  /** Name or path of the preset, for people and the receipt. */
  readonly preset: string
  readonly recipe: Recipe
  /** Parts to regenerate; empty for the whole file. */
  readonly segments: readonly Segment[]
  /** Format of the output of an audio file; null for the file's own. */
  readonly outputType: OutputType | null
  /** Refuses files that would lose anything. */
  readonly strict: boolean
  readonly report: boolean
  /** Signs the output with Content Credentials. Absent: no. */
  readonly signed?: boolean | undefined
  /** Sends long files in parts of about this length; null for one piece. */
  readonly chunkSec: number | null
  /** Regenerates only this many seconds; null for all. */
  readonly previewSec: number | null
  /** Replaces an existing output. */
  readonly force: boolean
}

/** {@link JobSettings} as a queued job stores them. */
export const jobSettingsSchema = z.object({
  preset: z.string(),
  recipe: recipeSchema,
  segments: z.array(segmentSchema),
  outputType: outputTypeSchema.nullable(),
  strict: z.boolean(),
  report: z.boolean(),
  signed: z.boolean().optional(),
  chunkSec: z.number().nullable(),
  previewSec: z.number().nullable(),
  force: z.boolean(),
}) satisfies z.ZodType<JobSettings>

/** The settings of a configuration, with the decisions for a single job. */
export function settingsOfConfig(
  { preset, recipe, outputType, strict, report, chunkSec, credentials }: Config,
  own: Pick<JobSettings, 'segments' | 'previewSec' | 'force'>,
): JobSettings {
  const signed = credentials !== null && { signed: true }
  return { preset: preset.name, recipe, outputType, strict, report, chunkSec, ...signed, ...own }
}

/**
 * Hash of all settings that decide the output. It leaves out those for checks and messages, so that changing them does
 * not make a finished file stale.
 */
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
