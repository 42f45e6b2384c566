import { realpath, stat } from 'node:fs/promises'
import { readReceipt } from '../../src/pipeline/output/receipt.js'
import { receiptPath } from '../../src/pipeline/plan/output-path.js'

/** The file from which a media file of a timeline was made. */
export type OriginalMedia =
  /** Any file that voxmux did not make. */
  | { readonly kind: 'itself' }
  | { readonly kind: 'found'; readonly path: string }
  /** The file that the receipt names is gone or has changed. */
  | { readonly kind: 'gone'; readonly path: string }

/**
 * Finds the file from which an output of voxmux was made. A cut over outputs is a second cut of the originals. No output
 * is regenerated again, and its other parts still hold the old sound. Makes cheap comparisons only.
 */
export async function originalOf(path: string): Promise<OriginalMedia> {
  const receipt = await readReceipt(receiptPath(path))
  if (!receipt || (await stat(path)).size !== receipt.output.sizeBytes) return { kind: 'itself' }
  const { input } = receipt
  const found = await stat(input.path).catch(() => undefined)
  const isSame = found?.size === input.sizeBytes && Math.round(found.mtimeMs) === input.mtimeMs
  return isSame ? { kind: 'found', path: await realpath(input.path) } : { kind: 'gone', path: input.path }
}
