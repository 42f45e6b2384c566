import { join, sep } from 'node:path'
import { readReceipt } from '../../../src/pipeline/output/receipt.js'
import { receiptPath } from '../../../src/pipeline/plan/output-path.js'

/**
 * Whether a file in a watched folder was made from a file of that folder: an output of when `out` was another place, or
 * of `voxmux run`. Taken as a source, all that was ever finished would be paid for once more. What one folder made is a
 * source for another all the same.
 *
 * @param root the watched folder
 * @param path within it
 */
export async function isOwnOutput(root: string, path: string, sizeBytes: number): Promise<boolean> {
  const receipt = await readReceipt(receiptPath(join(root, path)))
  // Of another size it is a newer file under an old name.
  return receipt?.output.sizeBytes === sizeBytes && receipt.input.path.startsWith(root + sep)
}
