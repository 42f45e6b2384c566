import { lstat, stat } from 'node:fs/promises'
import { hasBytes, type QuickIdentity, quickIdentity } from '../../core/file-identity.js'
import type { Job, JobStore } from '../../ledger/index.js'
import { receiptPath } from '../plan/output-path.js'
import { partPath } from './part-file.js'
import { outputExists, outputNoFile } from './publish.js'
import { type Receipt, readReceipt, writeReceipt } from './receipt.js'

/** The state of the output's place before a job. */
export type ExistingOutput =
  | { readonly kind: 'none' }
  /** An output of voxmux from this input and recipe. Nothing remains to be done. */
  | { readonly kind: 'done'; readonly receipt: string }
  /** An unchanged output of voxmux from an older version of this input, or the name that a killed attempt took. */
  | { readonly kind: 'replaceable' }

interface WantedOutput {
  readonly input: string
  readonly inputIdentity: QuickIdentity
  readonly output: string
  readonly recipeHash: string
  /** Set by `--force`: an existing file may be replaced. */
  readonly replace: boolean
  /** Also replaces an output of an older version of the input. */
  readonly supersede: boolean
  readonly signal?: AbortSignal | undefined
}

/**
 * Examines the output's place.
 *
 * Published files are recognised by content. Either the ledger has their SHA-256 from before the publishing, or a
 * receipt is beside them. A file published just before a crash is adopted, and its receipt is written now.
 *
 * @param job as the ledger has it; null for an unknown job
 * @param jobs that ledger
 * @throws {UsageError} `ERR_OUTPUT_EXISTS` for another file, unless it may be replaced, and for anything but a file
 */
export async function existingOutput(
  wanted: WantedOutput,
  job: Job | null,
  jobs: Pick<JobStore, 'get'>,
): Promise<ExistingOutput> {
  const { output, replace, signal } = wanted
  await requireFilePath(output)
  const found = await stat(output).catch(() => undefined)
  if (replace) return { kind: 'none' }
  if (!found) {
    // A dangling link also occupies the name. Report that now, not after the voice is paid for.
    if (await lstat(output).catch(() => undefined)) throw outputExists(output)
    return { kind: 'none' }
  }
  if (isTakenName(found, job)) return { kind: 'replaceable' }
  const receipt = receiptPath(output)
  if (await wasPublishedBy(job, output, signal)) return { kind: 'done', receipt }
  const beside = await readReceipt(receipt)
  if (beside && (await isOf(beside, wanted))) return { kind: 'done', receipt }
  if (beside && wanted.supersede && (await isOlder(beside, wanted, jobs))) return { kind: 'replaceable' }
  const own = await likelyReceipt(output, signal)
  throw outputExists(output, own && { made: await originOf(own, wanted, jobs) })
}

/** Describes how voxmux made a file that is not the wanted output. */
async function originOf(
  receipt: Receipt,
  { input, recipeHash }: WantedOutput,
  jobs: Pick<JobStore, 'get'>,
): Promise<string> {
  if (!(await isOutputOf(receipt, input, jobs))) return `from ${receipt.input.path}`
  return receipt.recipeHash === recipeHash
    ? 'from an earlier version of this input'
    : `from this input with other settings or another account (preset "${receipt.preset}")`
}

/** True for the empty file with which a killed attempt took the name. Without hard links that comes first: see `publish`. */
export function isTakenName({ size }: { readonly size: number }, job: Job | null): boolean {
  return size === 0 && !!job?.publishedSha256
}

/** Refuses a device, pipe or folder as output, even with `--force`. @throws {UsageError} `ERR_OUTPUT_EXISTS` */
export async function requireFilePath(output: string): Promise<void> {
  const found = await stat(output).catch(() => undefined)
  if (found && !found.isFile()) throw outputNoFile(output)
}

/**
 * The receipt beside an input that is an unchanged output of voxmux; undefined for any other file. A second `voxmux
 * *.wav` also names the outputs of the first, and none of them may be paid for again.
 */
export async function ownReceipt(input: string, signal?: AbortSignal): Promise<Receipt | undefined> {
  const receipt = await readReceipt(receiptPath(input))
  return receipt && (await hasBytes(input, receipt.output, signal)) ? receipt : undefined
}

/**
 * A cheap {@link ownReceipt}. It reads the file only if that has the size of the output, but has changed since its
 * receipt was written. The system sets the time of that change, so no copy or edit can hide it.
 */
export async function likelyReceipt(output: string, signal?: AbortSignal): Promise<Receipt | undefined> {
  const path = receiptPath(output)
  const receipt = await readReceipt(path)
  const [found, beside] = await Promise.all([output, path].map((one) => stat(one).catch(() => undefined)))
  if (!receipt || !found || !beside || found.size !== receipt.output.sizeBytes) return undefined
  const isUntouched = found.ctimeMs <= beside.ctimeMs
  return isUntouched || (await hasBytes(output, receipt.output, signal)) ? receipt : undefined
}

/**
 * True if this job published the output, perhaps right before a crash. It is recognised by the hash and the receipt in
 * the ledger. Its receipt is written now if it is missing, or if it is the one of an older output.
 */
export async function wasPublishedBy(job: Job | null, output: string, signal?: AbortSignal): Promise<boolean> {
  const published = job?.publishedSha256 ? (job.state.receipt as Receipt | undefined) : undefined
  const found = await quickIdentity(output).catch(() => undefined)
  if (!published || published.output.sizeBytes !== found?.sizeBytes) return false
  // Unchanged since it was published. This avoids reading a folder of finished masters at every start.
  const untouched = job?.state.outputMtimeMs === found.mtimeMs
  if (!untouched && !(await hasBytes(output, published.output, signal))) return false
  const receipt = receiptPath(output)
  // The receipt of an output that this one replaced may still be there.
  if ((await readReceipt(receipt))?.output.sha256 !== published.output.sha256)
    await writeReceipt(receipt, published, partPath(output, published.job, '.json'))
  return true
}

/** Compares cheap properties first, and reads the files only if those agree. */
async function isOf(receipt: Receipt, wanted: WantedOutput): Promise<boolean> {
  const { input, inputIdentity, output, recipeHash, signal } = wanted
  if (receipt.recipeHash !== recipeHash || receipt.input.sizeBytes !== inputIdentity.sizeBytes) return false
  return (await hasBytes(output, receipt.output, signal)) && hasBytes(input, receipt.input, signal)
}

/** True if the output was made from an earlier file of the input's name and is unchanged. */
async function isOlder(
  receipt: Receipt,
  { input, output, signal }: WantedOutput,
  jobs: Pick<JobStore, 'get'>,
): Promise<boolean> {
  return (await isOutputOf(receipt, input, jobs)) && hasBytes(output, receipt.output, signal)
}

/**
 * True if an output was made from the file at this path, in any version. The receipt has the path of the machine that
 * wrote it. If that machine mounts the share elsewhere, the job of the receipt has the right path.
 */
export async function isOutputOf(receipt: Receipt, input: string, jobs: Pick<JobStore, 'get'>): Promise<boolean> {
  return receipt.input.path === input || (await jobs.get(receipt.job))?.input === input
}
