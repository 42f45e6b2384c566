import { z } from 'zod'
import { measuredSoundSchema } from '../../media/index.js'

const figure = z.number().nullable()

const ruleSchema = z.object({
  figure: z.enum(['integratedLufs', 'dialogueLufs', 'momentaryMaxLufs', 'shortTermMaxLufs', 'truePeakDbtp']),
  measured: figure.meta({ description: 'The figure as it is judged, to a tenth; null if there is none.' }),
  from: figure.meta({ description: 'Least allowed value; null for none.' }),
  to: z.number().meta({ description: 'Highest allowed value.' }),
  passed: z.boolean().nullable().meta({ description: 'Null if the figure could not be measured.' }),
  source: z.string().meta({ description: 'The publication that sets the limit.' }),
})
export type RuleResult = z.infer<typeof ruleSchema>

/** The measurement of a finished output against a delivery standard, by ffmpeg's meters. */
export const certificateSchema = z.object({
  standard: z.string().meta({ description: 'Name of the standard, as in `--qc`.' }),
  title: z.string(),
  passed: z.boolean().nullable().meta({ description: 'Null if a figure is missing and no rule failed.' }),
  fault: z.string().nullable().meta({ description: 'Reason why nothing was measured; null if it was.' }),
  instruments: z.string().meta({ description: 'The meters, and their version.' }),
  tracks: z.array(
    z.object({
      outputIndex: z.int().min(0).meta({ description: 'Stream of the output.' }),
      sound: measuredSoundSchema,
      rules: z.array(ruleSchema),
    }),
  ),
})
export type Certificate = z.infer<typeof certificateSchema>
