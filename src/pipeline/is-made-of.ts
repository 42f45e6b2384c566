import type { JobStore } from '../jobs/index.js'
import type { Receipt } from './receipt.js'

/**
 * Whether an output was made of what lay at this path, in whatever version. The receipt has the path of the machine
 * that wrote it; where that one has the share elsewhere, the job of the receipt tells.
 */
export async function isMadeOf(receipt: Receipt, input: string, jobs: Pick<JobStore, 'get'>): Promise<boolean> {
  return receipt.input.path === input || (await jobs.get(receipt.job))?.input === input
}
