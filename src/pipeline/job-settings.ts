import { z } from 'zod'
import type { Config } from '../config/index.js'
import { type Recipe, recipeSchema } from '../config/preset-schema.js'
import { type OutputType, outputTypeSchema } from '../contract/index.js'
import { valueSha256 } from './file-identity.js'
import { type Segment, segmentSchema } from './segments.js'

/** Everything but the input that a person decides about a job, resolved: no default is left open. */
export interface JobSettings {
  /** Name or path of the preset, for people and the receipt. */
  readonly preset: string
  readonly recipe: Recipe
  /** Parts to regenerate; empty for the whole file. */
  readonly segments: readonly Segment[]
  /** Format of the output of an audio file; null for the file's own. */
  readonly outputType: OutputType | null
  /** Refuse where anything cannot be kept. */
  readonly strict: boolean
  readonly report: boolean
  /** Send long files in parts of about this length; null for one piece. */
  readonly chunkSec: number | null
  /** Regenerate only so many seconds; null for all. */
  readonly previewSec: number | null
  /** Replace an output that exists. */
  readonly force: boolean
}

/** {@link JobSettings} as they are kept with a queued job. */
export const jobSettingsSchema = z.object({
  preset: z.string(),
  recipe: recipeSchema,
  segments: z.array(segmentSchema),
  outputType: outputTypeSchema.nullable(),
  strict: z.boolean(),
  report: z.boolean(),
  chunkSec: z.number().nullable(),
  previewSec: z.number().nullable(),
  force: z.boolean(),
}) satisfies z.ZodType<JobSettings>

/** The settings that a configuration makes, with what is decided for a single job. */
export function settingsOfConfig(
  { preset, recipe, outputType, strict, report, chunkSec }: Config,
  own: Pick<JobSettings, 'segments' | 'previewSec' | 'force'>,
): JobSettings {
  return { preset: preset.name, recipe, outputType, strict, report, chunkSec, ...own }
}

/**
 * Hash of all that decides the output but the input: settings that only say how careful or how loud to be are left
 * out, so that changing them does not make a finished file stale.
 */
export function recipeHash(settings: JobSettings, serviceIdentity: string): string {
  const { verify: _verify, ...recipe } = settings.recipe
  const { segments, outputType, chunkSec, previewSec } = settings
  return valueSha256({ recipe, segments, outputType, chunkSec, previewSec, serviceIdentity })
}
