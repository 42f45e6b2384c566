import type { JobStore } from '../../ledger/index.js'
import type { Receipt } from './receipt.js'

/**
 * True if an output was made from the file at this path, in any version. The receipt has the path of the machine that
 * wrote it. If that machine mounts the share elsewhere, the job of the receipt has the right path.
 */
export async function isMadeOf(receipt: Receipt, input: string, jobs: Pick<JobStore, 'get'>): Promise<boolean> {
  return receipt.input.path === input || (await jobs.get(receipt.job))?.input === input
}
