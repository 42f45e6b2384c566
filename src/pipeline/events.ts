import { z } from 'zod'
import type { ErrorReport } from '../core/errors.js'

/** Version of the events: raised when a field changes its meaning or goes, not when one is added. */
export const EVENT_SCHEMA_VERSION = 1

/** The stages of a job, in order. Closed, because scripts switch on it. */
export const STAGES = [
  'probe',
  'precheck',
  'plan',
  'cut',
  'upload',
  'process',
  'download',
  'align',
  'splice',
  'mux',
  'verify',
  'publish',
] as const

/** The stages that each voice file passes separately. */
export const PART_STAGES = ['upload', 'process', 'download', 'align'] as const satisfies readonly Stage[]

export const stageSchema = z.enum(STAGES)
export type Stage = z.infer<typeof stageSchema>

/** How an input ended. `pending` also means interrupted or not begun. */
export const inputStatusSchema = z.enum(['done', 'skipped', 'rejected', 'failed', 'pending'])
export type InputStatus = z.infer<typeof inputStatusSchema>

/** An error in an event: see `errorReport` in core. */
const errorReportSchema = z.object({
  code: z.templateLiteral(['ERR_', z.string()]),
  errorCode: z.int().nullable().meta({ description: "The service's file error code; null for any other error." }),
  name: z.string().nullable(),
  message: z.string(),
  remedies: z.array(z.string()).readonly(),
}) satisfies z.ZodType<ErrorReport>

const id = z.string().min(1).meta({ description: "The job's id; the run's id on the `result` of several inputs." })
const input = z.string().meta({ description: 'Absolute path, or the given address.' })
const path = z.string().nullable().meta({ description: 'Absolute path; null if there is none.' })

/** The verdict of `--qc`, in short. The receipt has the figures. */
const certificateVerdictSchema = z.object({
  standard: z.string(),
  passed: z.boolean().nullable().meta({ description: 'Null if it could not be measured.' }),
  summary: z.string().meta({ description: 'Each figure with its limit, and why nothing was measured.' }),
})

/** Progress of one stage of an input. `percent` never falls within a stage. */
export const progressEventSchema = z.object({
  event: z.literal('progress'),
  id,
  input,
  stage: stageSchema,
  percent: z.number().min(0).max(100),
  soundSec: z.number().optional().meta({ description: 'Seconds of the file to regenerate, once they are planned.' }),
})
export type ProgressEvent = z.infer<typeof progressEventSchema>

/** Sent once per input, when it has ended. */
export const fileEventSchema = z.object({
  event: z.literal('file'),
  id,
  input,
  status: inputStatusSchema,
  output: path,
  receipt: path,
  certificate: certificateVerdictSchema.nullable().optional().meta({
    description: 'The verdict of `qc`; null without it. Only jobs that ran have this key.',
  }),
  error: errorReportSchema.nullable(),
})
export type FileEvent = z.infer<typeof fileEventSchema>

const count = z.int().min(0)

/** Sent exactly once, last. With a single input, it repeats that input's status, output and receipt. */
export const resultEventSchema = z.object({
  event: z.literal('result'),
  id,
  exitCode: z.literal([0, 1, 2, 3, 4, 5, 6, 7, 130]),
  done: count,
  skipped: count,
  rejected: count,
  failed: count,
  pending: count,
  files: z.array(fileEventSchema.omit({ event: true }).loose()).readonly(),
  status: inputStatusSchema.nullable(),
  output: path,
  receipt: path,
  /** The reason why nothing was tried: a usage error has no `file` event. */
  error: errorReportSchema.nullable(),
})
export type ResultEvent = z.infer<typeof resultEventSchema>

/** An event of a running job. */
export type JobEvent = ProgressEvent | FileEvent
