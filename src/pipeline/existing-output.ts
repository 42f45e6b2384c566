import { lstat, stat } from 'node:fs/promises'
import type { Job, JobStore } from '../jobs/index.js'
import { fileSha256, type QuickIdentity } from './file-identity.js'
import { isMadeOf } from './is-made-of.js'
import { receiptPath } from './output-path.js'
import { receiptPartPath } from './part-file.js'
import { outputExists, outputNoFile } from './publish.js'
import { type Receipt, readReceipt, writeReceipt } from './receipt.js'

/** What stands where the output is to go. */
export type ExistingOutput =
  | { readonly kind: 'none' }
  /** Ours, of this very input and recipe: nothing is to be done. */
  | { readonly kind: 'done'; readonly receipt: string }
  /** Ours, of an older version of this input, unchanged since, and it may be replaced. */
  | { readonly kind: 'older' }

export interface WantedOutput {
  readonly input: string
  readonly inputIdentity: QuickIdentity
  readonly output: string
  readonly recipeHash: string
  /** The person said `--force`: what stands there may be replaced. */
  readonly replace: boolean
  /** An output of an older version of the input may be replaced too. */
  readonly supersede: boolean
  readonly signal?: AbortSignal | undefined
}

/**
 * Looks at what stands at the output's place.
 *
 * Published files are recognised by content: by the SHA-256 that the ledger wrote before the name was given (so a
 * file published just before a crash is adopted, and its receipt written now), or by the receipt beside it.
 *
 * @param job as the ledger has it; null where it knows none
 * @param jobs that ledger
 * @throws {UsageError} `ERR_OUTPUT_EXISTS` for a file that is not the wanted one, unless it may be replaced, and for
 *   what is no file
 */
export async function existingOutput(
  wanted: WantedOutput,
  job: Job | null,
  jobs: Pick<JobStore, 'get'>,
): Promise<ExistingOutput> {
  const { output, replace, signal } = wanted
  await requireFilePlace(output)
  const found = await stat(output).catch(() => undefined)
  if (replace) return { kind: 'none' }
  if (!found) {
    // A link that leads nowhere holds the name all the same: said now, not when the voice is paid for.
    if (await lstat(output).catch(() => undefined)) throw outputExists(output)
    return { kind: 'none' }
  }
  const receipt = receiptPath(output)
  if (await wasPublishedBy(job, output, signal)) return { kind: 'done', receipt }
  const beside = await readReceipt(receipt)
  if (beside && (await isOf(beside, wanted, found.size))) return { kind: 'done', receipt }
  if (beside && wanted.supersede && (await isOlder(beside, wanted, found.size, jobs))) return { kind: 'older' }
  throw outputExists(output)
}

/**
 * Refuses a device, a pipe or a folder in the output's place, `--force` or not: whoever writes `-o /dev/null` means to
 * throw the output away, not the device.
 *
 * @throws {UsageError} `ERR_OUTPUT_EXISTS`
 */
export async function requireFilePlace(output: string): Promise<void> {
  const found = await stat(output).catch(() => undefined)
  if (found && !found.isFile()) throw outputNoFile(output)
}

/**
 * Whether an output is what this job published, maybe right before a crash: known by the hash and the receipt that the
 * ledger had before. A receipt that it could not write any more is written now.
 */
export async function wasPublishedBy(job: Job | null, output: string, signal?: AbortSignal): Promise<boolean> {
  const published = job?.publishedSha256 ? (job.state.receipt as Receipt | undefined) : undefined
  const found = await stat(output).catch(() => undefined)
  if (!published || !found || published.output.sizeBytes !== found.size) return false
  // Untouched since it was published: a folder of finished masters is not read again at every start.
  const untouched = job?.state.outputMtimeMs === Math.round(found.mtimeMs)
  if (!untouched && (await fileSha256(output, signal)) !== published.output.sha256) return false
  const receipt = receiptPath(output)
  if (!(await readReceipt(receipt))) await writeReceipt(receipt, published, receiptPartPath(output, published.job))
  return true
}

/** Cheap comparisons first: the files are read only where everything else agrees. */
async function isOf(receipt: Receipt, wanted: WantedOutput, outputBytes: number): Promise<boolean> {
  const { input, inputIdentity, output, recipeHash, signal } = wanted
  if (receipt.recipeHash !== recipeHash || receipt.output.sizeBytes !== outputBytes) return false
  if (receipt.input.sizeBytes !== inputIdentity.sizeBytes) return false
  if ((await fileSha256(output, signal)) !== receipt.output.sha256) return false
  return (await fileSha256(input, signal)) === receipt.input.sha256
}

/** Made of what stood under the input's name before, and still as it was made. */
async function isOlder(
  receipt: Receipt,
  { input, output, signal }: WantedOutput,
  outputBytes: number,
  jobs: Pick<JobStore, 'get'>,
): Promise<boolean> {
  if (receipt.output.sizeBytes !== outputBytes || !(await isMadeOf(receipt, input, jobs))) return false
  return (await fileSha256(output, signal)) === receipt.output.sha256
}
