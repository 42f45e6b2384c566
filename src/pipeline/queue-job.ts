import { stat } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import { safeAddress } from '../client/index.js'
import { TransientError, UsageError } from '../core/errors.js'
import { isEnded, type Job, type JobRequest, type JobStore } from '../jobs/index.js'
import type { PipelineContext } from './context.js'
import { isWebAddress } from './expand-inputs.js'
import { fileSha256, type QuickIdentity, quickIdentity, valueSha256 } from './file-identity.js'
import { isMadeOf } from './is-made-of.js'
import { recipeHash } from './job-settings.js'
import { missingInput } from './missing-input.js'
import { receiptPath } from './output-path.js'
import { type JobOrder, orderOf, orderState, shownInput } from './queued-order.js'
import { readReceipt } from './receipt.js'

/** How many jobs of one path are looked through for its content's hash. */
const KNOWN_LIMIT = 5

export interface QueueOptions {
  readonly signal?: AbortSignal | undefined
}

/**
 * Enqueues an order for the workers of the store, once: a file is known by its content. Renamed or touched it is the
 * job it was (one that waits follows its file to the new name), a newer version is a new job, and a copy beside the
 * original is a job of its own for which nothing is paid again. `settings.force` makes an ended job wait again.
 *
 * @returns the job, and whether it is new. While a worker has it in hand it keeps the input's old name: where
 *   `job.input` is not the order's, ask again later.
 * @throws UsageError `ERR_ORDER_RELATIVE`; TransientError `ERR_INPUT_CHANGING`; what reading the input throws
 */
export async function queueJob(
  order: JobOrder,
  context: PipelineContext,
  options: QueueOptions = {},
): Promise<{ readonly job: Job; readonly created: boolean }> {
  const isAddress = isWebAddress(order.input)
  requireAbsolute(order, isAddress)
  const content = isAddress ? addressContent(order.input) : await fileContent(order, context, options.signal)
  const request = jobRequest(order, content, context)
  const first = await context.jobs.enqueue(request)
  if (first.created) return first
  const isCopy = order.identity === undefined && (await isElsewhere(first.job, request.input))
  if (!isCopy) return { job: await takeUpAgain(first.job, request, order, context), created: false }
  const copy = { ...request, key: valueSha256({ copyOf: request.key, input: shared(request.input, context) }) }
  const second = await context.jobs.enqueue(copy)
  if (second.created) return second
  return { job: await takeUpAgain(second.job, copy, order, context), created: false }
}

function requireAbsolute({ input, output }: JobOrder, isAddress: boolean): void {
  const relative = [...(isAddress ? [] : [input]), output].find((path) => !isAbsolute(path))
  if (relative === undefined) return
  throw new UsageError('ERR_ORDER_RELATIVE', `${relative} is not an absolute path: a worker runs in another folder.`, {
    input,
  })
}

/** What an input is known by, and how it stood when it was read. */
interface Content {
  readonly hash: string
  readonly identity: QuickIdentity | null
}

/** The address without its signature: what lies behind it is not known here. */
function addressContent(address: string): Content {
  const { origin, pathname } = safeAddress(address, 'The input')
  return { hash: valueSha256({ origin, pathname }), identity: null }
}

async function fileContent(
  { input, contentId }: JobOrder,
  { jobs }: PipelineContext,
  signal: AbortSignal | undefined,
): Promise<Content> {
  const identity = await quickIdentity(input).catch(async (cause: NodeJS.ErrnoException) => {
    throw cause.code === 'ENOENT' ? await missingInput(input, cause) : cause
  })
  if (contentId !== undefined) return { hash: contentId, identity }
  const known = await jobs.list({ input, limit: KNOWN_LIMIT })
  const same = known.find(
    ({ inputIdentity }) =>
      inputIdentity?.sizeBytes === identity.sizeBytes && inputIdentity.mtimeMs === identity.mtimeMs,
  )
  const hash = same?.inputIdentity?.sha256 ?? (await fileSha256(input, signal))
  const after = await quickIdentity(input)
  if (after.sizeBytes === identity.sizeBytes && after.mtimeMs === identity.mtimeMs) return { hash, identity }
  throw new TransientError('ERR_INPUT_CHANGING', `${input} changed while it was read.`, {
    input,
    remedies: ['Wait until it is written to its end.'],
  })
}

function jobRequest(order: JobOrder, { hash, identity }: Content, context: PipelineContext): JobRequest {
  const { input, output, settings, group } = order
  const isAddress = identity === null
  const recipe = recipeHash(settings, context.serviceIdentity)
  const what =
    order.identity === undefined
      ? { hash, output: shared(output, context), recipe }
      : { group: shared(group, context), identity: order.identity }
  return {
    key: valueSha256(what),
    group,
    priority: order.priority ?? 0,
    notBeforeMs: order.notBeforeMs ?? null,
    input: shownInput(input, isAddress),
    inputIdentity: identity && { ...identity, sha256: hash },
    recipeHash: recipe,
    preset: settings.preset,
    state: orderState(order, isAddress),
  }
}

/** The same on every machine, so that two that see one file make one job of it. */
function shared(path: string, { sharedPath }: PipelineContext): string {
  return sharedPath?.(path) ?? path
}

/** Whether the job's file is still where it was, and so another than the one at this path. */
async function isElsewhere(job: Job, input: string): Promise<boolean> {
  if (job.input === input) return false
  const found = await stat(job.input).catch(() => undefined)
  return found?.size === job.inputIdentity?.sizeBytes
}

/**
 * Brings a job that is known up to date: one that waits follows its file to the new name, one that has ended waits
 * again where the person forces it or the reason was that its file had another name.
 */
async function takeUpAgain(
  job: Job,
  request: JobRequest,
  { settings, ticket, supersede }: JobOrder,
  { jobs }: PipelineContext,
): Promise<Job> {
  const isMoved = job.input !== request.input
  const isSameWish = ticket !== undefined && orderOf(job)?.ticket === ticket
  const isAgain =
    (settings.force && !isSameWish) ||
    (isMoved && job.error?.code === 'ERR_INPUT_MISSING') ||
    (supersede === true && (await isSuperseded(job, jobs)))
  if (isEnded(job.status) ? !isAgain : !isMoved) return job
  if (isEnded(job.status)) await jobs.requeue(job.id)
  const claim = await jobs.claim(request.key)
  if (claim.outcome !== 'claimed') return claim.outcome === 'unknown' ? job : claim.job
  const { input, inputIdentity, state } = request
  await jobs.checkpoint(claim.lease, { input, ...(inputIdentity && { inputIdentity }), ...(state && { state }) })
  return jobs.release(claim.lease, { status: 'queued', notBeforeMs: isEnded(job.status) ? null : job.notBeforeMs })
}

/** Whether what stands in the place of its output was made since of another version of its input. */
async function isSuperseded({ id, status, input, output }: Job, jobs: JobStore): Promise<boolean> {
  // A skipped job's output is another job's anyway.
  if (status !== 'done' || output === null) return false
  const receipt = await readReceipt(receiptPath(output))
  return receipt !== undefined && receipt.job !== id && (await isMadeOf(receipt, input, jobs))
}
