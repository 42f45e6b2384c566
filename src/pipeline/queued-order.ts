import { z } from 'zod'
import { UsageError } from '../core/errors.js'
import { redactUrl } from '../core/redact.js'
import type { Job, JobState } from '../jobs/index.js'
import { type JobSettings, jobSettingsSchema } from './job-settings.js'
import type { PlanRequest } from './plan-job.js'

/** A file that is to be done by whichever worker takes it up. */
export interface JobOrder {
  /** Absolute path, or https address. */
  readonly input: string
  /** Absolute path: a file, or a folder with a slash at its end, in which the name follows the input's. */
  readonly output: string
  /** Name of the output in that folder, without its extension; default the input's and `.regen`. */
  readonly outputStem?: string | undefined
  readonly settings: JobSettings
  /** Jobs of one group take turns with those of others, and can be paused: a watch folder. */
  readonly group: string
  /** Higher is sooner; default 0. */
  readonly priority?: number | undefined
  /** Not before this time (Unix milliseconds). */
  readonly notBeforeMs?: number | null | undefined
  /** The service fetches the address itself. */
  readonly remote?: boolean | undefined
  /**
   * An output of before that was made of an older version of this input, and that nobody has changed since, gives way
   * to the new one. Without, it is refused like any file that stands in the way.
   */
  readonly supersede?: boolean | undefined
  /** What makes two orders of a group one job; default the input's content, the place of the output and the recipe. */
  readonly identity?: string | undefined
  /** Names this very wish: enqueued again after a crash, it forces nothing a second time. */
  readonly ticket?: string | undefined
  /** SHA-256 of the input's content, or what else the caller knows it by: it is not read then. */
  readonly contentId?: string | undefined
  /** Plain JSON for the hooks of the job. */
  readonly data?: Readonly<Record<string, unknown>> | undefined
}

/** Raised when a worker of before could misread an order. */
const ORDER_VERSION = 1

const orderSchema = z.object({
  version: z.literal(ORDER_VERSION),
  /** The address as it was given, secrets and all; null for a file, whose path is the job's input. */
  address: z.string().nullable(),
  output: z.string(),
  outputStem: z.string().nullable(),
  settings: jobSettingsSchema,
  remote: z.boolean(),
  supersede: z.boolean(),
  ticket: z.string().nullable(),
  data: z.record(z.string(), z.unknown()),
})

/** An order as the job's state holds it. */
export type QueuedOrder = Readonly<z.infer<typeof orderSchema>>

/** The part of a job's state in which its order stands. */
export function orderState(order: JobOrder, isAddress: boolean): JobState {
  const queued: QueuedOrder = {
    version: ORDER_VERSION,
    address: isAddress ? order.input : null,
    output: order.output,
    outputStem: order.outputStem ?? null,
    settings: { ...order.settings, segments: [...order.settings.segments] },
    remote: order.remote ?? false,
    supersede: order.supersede ?? false,
    ticket: order.ticket ?? null,
    data: { ...order.data },
  }
  return { order: queued }
}

/**
 * The order of a job; null where it has none, because the process that made it does it itself (`voxmux run`).
 *
 * @throws UsageError `ERR_ORDER_UNREADABLE` for one that another version of voxmux wrote
 */
export function orderOf(job: Job): QueuedOrder | null {
  if (job.state.order === undefined) return null
  const read = orderSchema.safeParse(job.state.order)
  if (read.success) return read.data
  throw new UsageError('ERR_ORDER_UNREADABLE', `The order of ${job.input} cannot be read by this version of voxmux.`, {
    cause: read.error,
    input: job.input,
    remedies: ['Run the same version on every machine, then `voxmux jobs retry` it.'],
  })
}

/** What the pipeline is asked for by a job with an order. */
export function planRequestOf(job: Job, order: QueuedOrder): PlanRequest {
  return {
    provisionalId: job.id,
    input: order.address ?? job.input,
    output: order.output,
    outputStem: order.outputStem ?? undefined,
    cwd: '/',
    group: job.group,
    settings: order.settings,
    remote: order.remote,
    supersede: order.supersede,
  }
}

/** The input as ledger, events and logs may show it. */
export function shownInput(input: string, isAddress: boolean): string {
  return isAddress ? redactUrl(input) : input
}

/** A job as it may be shown: an address that it has to fetch is a secret as a rule. */
export function shownJob(job: Job): Job {
  const { order } = job.state as { readonly order?: { readonly address?: unknown } }
  if (typeof order?.address !== 'string') return job
  return { ...job, state: { ...job.state, order: { ...order, address: redactUrl(order.address) } } }
}
