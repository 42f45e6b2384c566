import { z } from 'zod'
import { outputTypeSchema } from '../contract/index.js'
import { channelsChoiceSchema, trackChoiceSchema } from '../precheck/choices.js'
import { segmentSchema } from './segments.js'

/** A job as other programs write it down: for `voxmux step`, and into the spool of `voxmux worker`. */
export const jobRequestSchema = z.strictObject({
  input: z.string().min(1).meta({ description: 'Path or https address of the file.' }),
  output: z
    .string()
    .min(1)
    .optional()
    .meta({ description: 'File, or folder with a slash at its end; left out, beside the input.' }),
  preset: z.string().min(1).optional().meta({ description: 'Preset, by name or path.' }),
  segments: z.array(segmentSchema).optional().meta({ description: 'Parts to regenerate; left out, the whole file.' }),
  track: trackChoiceSchema.optional(),
  channels: channelsChoiceSchema.optional(),
  outputType: outputTypeSchema.optional().meta({ description: 'Format of the output of an audio file.' }),
  keepOriginal: z.boolean().optional().meta({ description: 'Keep the untouched track as a second one, labelled.' }),
  force: z.boolean().optional().meta({ description: 'Overwrite, and do again what is done.' }),
})
export type JobRequestFile = z.infer<typeof jobRequestSchema>

/** A job, or a list of them, in JSON Schema: how editors and other languages check what they write. */
export function jobRequestJsonSchema(): object {
  const { $schema, ...job } = z.toJSONSchema(jobRequestSchema, { io: 'input', unrepresentable: 'any' })
  return {
    $schema,
    title: 'A job of `voxmux step`, or a list of them',
    anyOf: [{ $ref: '#/$defs/job' }, { type: 'array', minItems: 1, items: { $ref: '#/$defs/job' } }],
    $defs: { job },
  }
}
