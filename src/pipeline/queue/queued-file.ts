import { z } from 'zod'
import { UsageError } from '../../core/errors.js'
import { type Job, type JobState, mapTexts } from '../../ledger/index.js'
import { jobSettingsSchema } from '../plan/job-settings.js'
import type { PlanRequest } from '../plan/plan-job.js'
import { isWebAddress, shownInput } from '../web-address.js'

/** A file for any worker to process. */
export interface QueuedFile extends Pick<PlanRequest, 'input' | 'outputStem' | 'settings' | 'group'> {
  /** Absolute path: a file, or a folder with a slash at its end, which then gets a name from the input. */
  readonly output: string
  /** Higher priorities run sooner; default 0. */
  readonly priority?: number | undefined
  /** Earliest start, in Unix milliseconds. */
  readonly notBeforeMs?: number | null | undefined
  /** The service fetches the address itself. */
  readonly remote?: boolean | undefined
  /**
   * Replaces an output that was made from an older version of this input and that nobody has changed since. Otherwise
   * such an output is refused like any existing file.
   */
  readonly supersede?: boolean | undefined
  /** Queues an ended job again if it has no output. With a ticket, only once for that ticket. */
  readonly isRetry?: boolean | undefined
  /** Makes two files of a group one job; by default the input's content, the output and the recipe. */
  readonly identity?: string | undefined
  /** Identifies this request. Enqueued again after a crash, it forces nothing a second time. */
  readonly ticket?: string | undefined
  /** SHA-256 of the input's content, or another id of the caller's. The input is then not read. */
  readonly contentId?: string | undefined
  /** Plain JSON for the hooks of the job. */
  readonly data?: Readonly<Record<string, unknown>> | undefined
}

/** Raised when an older worker could misread a record. */
const RECORD_VERSION = 1

const recordSchema = z.object({
  version: z.literal(RECORD_VERSION),
  /** The given address with its secrets. Null for a file, whose path is the job's input. */
  address: z.string().nullable(),
  output: z.string(),
  outputStem: z.string().nullable(),
  settings: jobSettingsSchema,
  remote: z.boolean(),
  supersede: z.boolean(),
  ticket: z.string().nullable(),
  data: z.record(z.string(), z.unknown()),
})

/** A queued file as the state of its job holds it. */
export type QueuedRecord = Readonly<z.infer<typeof recordSchema>>

/** The part of a job's state that holds its record. */
export function queuedState(file: QueuedFile): JobState {
  const queued: QueuedRecord = {
    version: RECORD_VERSION,
    address: isWebAddress(file.input) ? file.input : null,
    output: file.output,
    outputStem: file.outputStem ?? null,
    settings: { ...file.settings, segments: [...file.settings.segments] },
    remote: file.remote ?? false,
    supersede: file.supersede ?? false,
    ticket: file.ticket ?? null,
    data: { ...file.data },
  }
  return { order: queued }
}

/**
 * The record of a queued job. Null if the process that made the job runs it itself (`voxmux run`).
 *
 * @throws UsageError `ERR_ORDER_UNREADABLE` for a record of another version of voxmux
 */
export function queuedRecordOf(job: Job): QueuedRecord | null {
  if (job.state.order === undefined) return null
  const read = recordSchema.safeParse(job.state.order)
  if (read.success) return read.data
  throw new UsageError('ERR_ORDER_UNREADABLE', `This version of voxmux cannot read the queued job for ${job.input}.`, {
    cause: read.error,
    input: job.input,
    remedies: ['Install the same version on every machine, then retry it with `voxmux jobs retry`.'],
  })
}

/** The plan request of a queued job. */
export function planRequestOf(job: Job, record: QueuedRecord): PlanRequest {
  return {
    provisionalId: job.id,
    input: record.address ?? job.input,
    output: record.output,
    outputStem: record.outputStem ?? undefined,
    cwd: '/',
    group: job.group,
    settings: record.settings,
    remote: record.remote,
    supersede: record.supersede,
  }
}

/** A job without secrets: the address of an input or of a webhook usually contains one. */
export function shownJob(job: Job): Job {
  return { ...job, state: mapTexts(job.state, shownInput) }
}
