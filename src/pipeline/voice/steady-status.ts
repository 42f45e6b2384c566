import type { VoxmuxClient } from '../../client/index.js'
import type { FileProcessingStatus } from '../../contract/index.js'
import { JobFailedError, VoxmuxError } from '../../core/errors.js'

/**
 * Requests the status of a file that an earlier run may have started. Asks again after InProgress, because a single wrong
 * response would make the job wait for ever for a file that was never started. If the second response contradicts it, a
 * third one decides: a file in progress that is given up would be paid twice.
 *
 * @returns undefined if the service says nothing of the file
 * @throws as `VoxmuxClient.getFilesStatus`, if the service cannot be asked at all
 */
export async function steadyStatus(
  client: VoxmuxClient,
  fileId: string,
  signal: AbortSignal,
): Promise<FileProcessingStatus['status'] | undefined> {
  const ask = async () => {
    const [entry] = await client.getFilesStatus([fileId], { signal }).catch(noStatus)
    return entry?.status
  }
  const first = await ask()
  if (first !== 'InProgress') return first
  const second = await ask()
  return second === 'NotFound' || second === 'Pending' || second === undefined ? ask() : second
}

/**
 * A service may refuse an id that it has forgotten, or leave it out. That must not block a voice for ever, nor the other
 * reservations.
 */
function noStatus(error: unknown): readonly [] {
  if (error instanceof JobFailedError || (error instanceof VoxmuxError && error.code === 'ERR_BAD_ANSWER')) return []
  throw error
}
