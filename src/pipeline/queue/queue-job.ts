import { stat } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import { safeAddress } from '../../client/index.js'
import { TransientError, UsageError } from '../../core/errors.js'
import { fileSha256, isSameState, type QuickIdentity, quickIdentity, valueSha256 } from '../../core/file-identity.js'
import { isEnded, type Job, type JobRequest, type JobStore } from '../../ledger/index.js'
import type { PipelineContext } from '../context.js'
import { INPUT_GONE_CODES } from '../input-guard.js'
import { isOutputOf } from '../output/existing-output.js'
import { readReceipt } from '../output/receipt.js'
import { missingInput } from '../output/storage-faults.js'
import { recipeHash } from '../plan/job-settings.js'
import { receiptPath } from '../plan/output-path.js'
import { isWebAddress, lastingAddress, shownInput } from '../web-address.js'
import { type QueuedFile, queuedRecordOf, queuedState } from './queued-file.js'

/** Number of jobs of one path to search for a content hash. */
const KNOWN_LIMIT = 5

/**
 * Enqueues a job for the workers of the store, once: a file is identified by its content. A renamed or touched file
 * stays the same job, and a waiting job follows its file to the new name. A newer version is a new job. A copy beside
 * the original is a separate job, but costs nothing more. `settings.force` queues an ended job again.
 *
 * @returns the job, and whether it is new. A running job keeps the input's old name: if `job.input` differs from the
 * given one, ask again later.
 * @throws UsageError `ERR_ORDER_RELATIVE`; TransientError `ERR_INPUT_CHANGING`; whatever reading the input throws
 */
export async function queueJob(
  file: QueuedFile,
  context: PipelineContext,
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): Promise<{ readonly job: Job; readonly created: boolean }> {
  requireAbsolute(file)
  const content = isWebAddress(file.input) ? addressContent(file.input) : await fileContent(file, context, signal)
  const request = jobRequest(file, content, context)
  const first = await context.jobs.enqueue(request)
  if (first.created) return first
  const isCopy = file.identity === undefined && (await isElsewhere(first.job, request.input))
  if (!isCopy) return { job: await updateKnownJob(first.job, request, file, context), created: false }
  const copy = { ...request, key: valueSha256({ copyOf: request.key, input: shared(request.input, context) }) }
  const second = await context.jobs.enqueue(copy)
  if (second.created) return second
  return { job: await updateKnownJob(second.job, copy, file, context), created: false }
}

function requireAbsolute({ input, output }: QueuedFile): void {
  const relative = [...(isWebAddress(input) ? [] : [input]), output].find((path) => !isAbsolute(path))
  if (relative === undefined) return
  throw new UsageError(
    'ERR_ORDER_RELATIVE',
    `${relative} is not an absolute path, and a worker runs in another folder.`,
    {
      input,
    },
  )
}

/** The identity of an input, and its state when it was read. */
interface Content {
  readonly hash: string
  readonly identity: QuickIdentity | null
}

/** The address without its signature. Its content is unknown here. */
function addressContent(address: string): Content {
  safeAddress(address, 'The input')
  return { hash: valueSha256(lastingAddress(address)), identity: null }
}

async function fileContent(
  { input, contentId }: QueuedFile,
  { jobs }: PipelineContext,
  signal: AbortSignal | undefined,
): Promise<Content> {
  const identity = await quickIdentity(input).catch(async (cause: NodeJS.ErrnoException) => {
    throw cause.code === 'ENOENT' ? await missingInput(input, cause) : cause
  })
  if (contentId !== undefined) return { hash: contentId, identity }
  const known = await jobs.list({ input, limit: KNOWN_LIMIT })
  const same = known.find(({ inputIdentity }) => isSameState(inputIdentity, identity))
  const hash = same?.inputIdentity?.sha256 ?? (await fileSha256(input, signal))
  if (isSameState(identity, await quickIdentity(input))) return { hash, identity }
  throw new TransientError('ERR_INPUT_CHANGING', `${input} changed while voxmux read it.`, {
    input,
    remedies: ['Wait until it is completely written.'],
  })
}

function jobRequest(file: QueuedFile, { hash, identity }: Content, context: PipelineContext): JobRequest {
  const { input, output, settings, group } = file
  const recipe = recipeHash(settings, context.serviceIdentity)
  const what =
    file.identity === undefined
      ? { hash, output: shared(output, context), recipe }
      : { group: shared(group, context), identity: file.identity }
  return {
    key: valueSha256(what),
    group,
    priority: file.priority ?? 0,
    notBeforeMs: file.notBeforeMs ?? null,
    input: shownInput(input),
    inputIdentity: identity && { ...identity, sha256: hash },
    recipeHash: recipe,
    preset: settings.preset,
    state: queuedState(file),
  }
}

/** The same path on every machine, so that two machines make one job of one file. */
function shared(path: string, { sharedPath }: PipelineContext): string {
  return sharedPath?.(path) ?? path
}

/** True if the job's file is still at its old path, so the file at this path is another one. */
async function isElsewhere(job: Job, input: string): Promise<boolean> {
  if (job.input === input) return false
  const found = await stat(job.input).catch(() => undefined)
  return found?.size === job.inputIdentity?.sizeBytes
}

/**
 * Updates a known job. A waiting job follows its file to the new name. An ended job is queued again if it is forced, or if it
 * failed only because its file had moved. A retry also queues a job without an output.
 */
async function updateKnownJob(
  job: Job,
  request: JobRequest,
  { settings, ticket, supersede, isRetry }: QueuedFile,
  { jobs }: PipelineContext,
): Promise<Job> {
  const isMoved = job.input !== request.input
  const isSameWish = ticket !== undefined && queuedRecordOf(job)?.ticket === ticket
  const isAgain =
    (settings.force && !isSameWish) ||
    (isRetry === true && !isSameWish && !(await hasOutput(job))) ||
    (isMoved && job.error !== null && INPUT_GONE_CODES.has(job.error.code)) ||
    (supersede === true && (await isSuperseded(job, jobs)))
  if (isEnded(job.status) ? !isAgain : !isMoved) return job
  if (isEnded(job.status)) await jobs.requeue(job.id)
  const claim = await jobs.claim(request.key)
  if (claim.outcome !== 'claimed') return claim.outcome === 'unknown' ? job : claim.job
  const { input, inputIdentity, state } = request
  await jobs.checkpoint(claim.lease, { input, inputIdentity: inputIdentity ?? undefined, state })
  return jobs.release(claim.lease, { status: 'queued', notBeforeMs: isEnded(job.status) ? null : job.notBeforeMs })
}

async function hasOutput({ status, output }: Job): Promise<boolean> {
  if ((status !== 'done' && status !== 'skipped') || output === null) return false
  return (await stat(output).catch(() => undefined)) !== undefined
}

/** True if its output was since replaced by one from another version of its input. */
export async function isSuperseded({ id, status, input, output }: Job, jobs: JobStore): Promise<boolean> {
  // A skipped job's output belongs to another job.
  if (status !== 'done' || output === null) return false
  const receipt = await readReceipt(receiptPath(output))
  return receipt !== undefined && receipt.job !== id && (await isOutputOf(receipt, input, jobs))
}
