import type { VoxmuxClient } from '../../client/index.js'
import type { FileProcessingStatus } from '../../contract/index.js'

/**
 * Requests the status of a file that an earlier run may have started. Asks again after InProgress, because a single wrong
 * response would make the job wait for ever for a file that was never started.
 *
 * @throws as `VoxmuxClient.getFilesStatus`
 */
export async function steadyStatus(
  client: VoxmuxClient,
  fileId: string,
  signal: AbortSignal,
): Promise<FileProcessingStatus['status'] | undefined> {
  const ask = async () => (await client.getFilesStatus([fileId], { signal }))[0]?.status
  const status = await ask()
  return status === 'InProgress' ? ask() : status
}
