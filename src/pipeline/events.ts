import { z } from 'zod'
import type { ErrorReport } from '../core/errors.js'

/** Version of the event's shapes: raised when a field changes its meaning or goes; a new field does not raise it. */
export const EVENT_SCHEMA_VERSION = 1

/** The stages of a job, in the order in which it goes through them. Closed: scripts switch on it. */
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

export const stageSchema = z.enum(STAGES)
export type Stage = z.infer<typeof stageSchema>

/** How an input ended; `pending` also stands for an input that was interrupted or not begun. */
export const fileStatusSchema = z.enum(['done', 'skipped', 'rejected', 'failed', 'pending'])
export type FileStatus = z.infer<typeof fileStatusSchema>

/** An error as it stands in events: see `errorReport` in core. */
const errorReportSchema = z.object({
  code: z.templateLiteral(['ERR_', z.string()]),
  errorCode: z.int().nullable().meta({ description: "The service's file error code, null where it is none." }),
  name: z.string().nullable(),
  message: z.string(),
  remedies: z.array(z.string()).readonly(),
}) satisfies z.ZodType<ErrorReport>

const id = z.string().min(1).meta({ description: "The job's id; on `result` of several inputs the run's." })
const input = z.string().meta({ description: 'Absolute path, or the address that was given.' })
const path = z.string().nullable().meta({ description: 'Absolute path, null where there is none.' })

/** How far a stage of one input is; `percent` never falls within a stage. */
export const progressEventSchema = z.object({
  event: z.literal('progress'),
  id,
  input,
  stage: stageSchema,
  percent: z.number().min(0).max(100),
})
export type ProgressEvent = z.infer<typeof progressEventSchema>

/** Once an input, when it has ended. */
export const fileEventSchema = z.object({
  event: z.literal('file'),
  id,
  input,
  status: fileStatusSchema,
  output: path,
  receipt: path,
  error: errorReportSchema.nullable(),
})
export type FileEvent = z.infer<typeof fileEventSchema>

const count = z.int().min(0)

/** Exactly one, last. With a single input, its status, output and receipt stand here too. */
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
  status: fileStatusSchema.nullable(),
  output: path,
  receipt: path,
  /** Why nothing was tried: a usage error has no `file` event. */
  error: errorReportSchema.nullable(),
})
export type ResultEvent = z.infer<typeof resultEventSchema>

/** What a job tells while it runs. */
export type JobEvent = ProgressEvent | FileEvent
