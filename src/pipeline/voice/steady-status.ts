import type { VoxmuxClient } from '../../client/index.js'
import type { FileProcessingStatus } from '../../contract/index.js'

/**
 * Requests the status of a file that an earlier run may have started. Asks again after InProgress, because a single wrong
 * response would make the job wait for ever for a file that was never started. If the second response contradicts it, a
 * third one decides: a file in progress that is given up would be paid twice.
 *
 * @throws as `VoxmuxClient.getFilesStatus`
 */
export async function steadyStatus(
  client: VoxmuxClient,
  fileId: string,
  signal: AbortSignal,
): Promise<FileProcessingStatus['status'] | undefined> {
  const ask = async () => (await client.getFilesStatus([fileId], { signal }))[0]?.status
  const first = await ask()
  if (first !== 'InProgress') return first
  const second = await ask()
  return second === 'NotFound' || second === 'Pending' || second === undefined ? ask() : second
}
