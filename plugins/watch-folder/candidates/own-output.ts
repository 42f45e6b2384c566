import { readReceipt } from '../../../src/pipeline/output/receipt.js'
import { receiptPath } from '../../../src/pipeline/plan/output-path.js'

/**
 * Whether a file in a watched folder is an output of voxmux, by the receipt beside it. Taken as a source, all that was
 * ever finished would be paid for once more.
 *
 * @param path absolute
 */
export async function isOwnOutput(path: string, sizeBytes: number): Promise<boolean> {
  const receipt = await readReceipt(receiptPath(path))
  // Of another size it is a newer file under an old name.
  return receipt?.output.sizeBytes === sizeBytes
}
