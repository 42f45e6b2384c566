import { z } from 'zod'
import type { MeasuredSound } from '../../media/index.js'

const figure = z.number().nullable()

const soundSchema = z.object({
  integratedLufs: figure.meta({ description: 'Integrated loudness (ITU-R BS.1770-4) in LUFS; null for silence.' }),
  rangeLu: figure.meta({ description: 'Loudness range (EBU Tech 3342); null for less than 30 s.' }),
  momentaryMaxLufs: figure.meta({ description: 'Highest loudness of 400 ms.' }),
  shortTermMaxLufs: figure.meta({ description: 'Highest loudness of 3 s; null for less sound.' }),
  truePeakDbtp: figure.meta({ description: 'Highest true peak of all channels; null for digital silence.' }),
  dialogueLufs: figure.meta({
    description: 'Loudness of the seconds with a voice, without a relative gate; null if the standard does not use it.',
  }),
  voiceShare: figure.meta({ description: 'Share of the seconds with a voice, 0 to 1; null if not measured.' }),
  silenceSec: z.number().meta({ description: 'Seconds of silence: below -60 dBFS for a second or more.' }),
  longestSilenceSec: z.number(),
  phase: figure.meta({ description: 'Mean correlation of two channels, -1 to 1; null for other channels than two.' }),
  outOfPhaseSec: figure.meta({ description: 'Seconds with a correlation below 0; null for other channels than two.' }),
}) satisfies z.ZodType<MeasuredSound>

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
      sound: soundSchema,
      rules: z.array(ruleSchema),
    }),
  ),
})
export type Certificate = z.infer<typeof certificateSchema>
