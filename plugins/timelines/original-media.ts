import { realpath } from 'node:fs/promises'
import { isSameState, quickIdentity } from '../../src/core/file-identity.js'
import { likelyReceipt } from '../../src/pipeline/output/existing-output.js'

/** The file from which a media file of a timeline was made. */
type OriginalMedia =
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
  const receipt = await likelyReceipt(path)
  if (!receipt) return { kind: 'itself' }
  const { input } = receipt
  const isSame = isSameState(input, await quickIdentity(input.path).catch(() => undefined))
  return isSame ? { kind: 'found', path: await realpath(input.path) } : { kind: 'gone', path: input.path }
}
