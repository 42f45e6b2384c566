import { join, sep } from 'node:path'
import { readReceipt } from 'voxmux'

/** What follows an output's name in that of its receipt. */
const RECEIPT_SUFFIX = '.voxmux.json'

/**
 * Whether a file in a watched folder was made from a file of that folder: an output of when `out` was another place, or
 * of `voxmux run`. Taken as a source, all that was ever finished would be paid for once more. What one folder made is a
 * source for another all the same.
 *
 * @param root the watched folder
 * @param path within it
 */
export async function isOwnOutput(root: string, path: string, sizeBytes: number): Promise<boolean> {
  const receipt = await readReceipt(join(root, path) + RECEIPT_SUFFIX)
  // Of another size it is a newer file under an old name.
  return receipt?.output.sizeBytes === sizeBytes && receipt.input.path.startsWith(root + sep)
}
