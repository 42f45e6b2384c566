import { dirname } from 'node:path'
import { isEnded } from '../../ledger/index.js'
import type { PipelineContext } from '../context.js'
import { clearStaleParts } from './part-file.js'
import { clearStaleWork } from './work-folder.js'

/** Removes what killed processes left where a job is going to work. */
export async function clearStale(output: string, ownId: string, { jobs, stateDir }: PipelineContext): Promise<void> {
  const isLive = async (jobId: string) => {
    if (jobId === ownId) return false
    const found = await jobs.get(jobId)
    return found === null ? undefined : !isEnded(found.status) && found.holder !== null
  }
  await clearStaleParts(dirname(output), isLive)
  await clearStaleWork(stateDir, isLive)
}
