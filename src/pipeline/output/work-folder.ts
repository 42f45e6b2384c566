import { randomBytes } from 'node:crypto'
import { readdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { makeFolder } from '../../core/make-folder.js'
import { DAY_MS } from '../../core/time.js'
import { isEnded } from '../../ledger/index.js'
import type { PipelineContext } from '../context.js'
import { ageMs, clearStaleParts } from './part-file.js'

/** Shortest age to remove the folder of a job that this ledger does not have. A job may wait for days at the service. */
const FOREIGN_WORK_MS = 7 * DAY_MS

/**
 * Makes a folder for the cuts and spooled audio of one attempt at a job, private to the user. An attempt that has lost
 * its lease cleans up while the next one works, so they share no folder.
 */
export function makeWorkFolder(stateDir: string, jobId: string): string {
  const folder = join(stateDir, 'work', `${jobId}-${randomBytes(12).toString('hex')}`)
  makeFolder(folder, 0o700)
  return folder
}

/** Keeps a job's files for inspection, because the voice and the regenerated audio did not line up. */
export async function keepForInspection(stateDir: string, jobId: string, workFolder: string): Promise<string> {
  const kept = join(stateDir, 'inspect', jobId)
  makeFolder(join(stateDir, 'inspect'), 0o700)
  await rm(kept, { recursive: true, force: true })
  await rename(workFolder, kept)
  // Raw samples hold nothing that the files beside them do not.
  const raw = (await readdir(kept)).filter((name) => name.endsWith('.pcm'))
  await Promise.all(raw.map((name) => rm(join(kept, name))))
  return kept
}

/**
 * Removes the work folders that killed processes left. The folder of an unknown job may be in use: by a process with
 * another ledger, or for a late report.
 */
async function clearStaleWork(stateDir: string, isLive: (jobId: string) => Promise<boolean | undefined>) {
  const folder = join(stateDir, 'work')
  for (const name of await readdir(folder).catch(() => [])) {
    const path = join(folder, name)
    const live = await isLive(name.replace(/-[0-9a-f]{24}$/, ''))
    const isLeft = live === false || (live === undefined && (await ageMs(path)) > FOREIGN_WORK_MS)
    if (isLeft) await rm(path, { recursive: true, force: true })
  }
}

/** Removes what killed processes left where a job is going to work. */
export async function clearStale(output: string, ownId: string, { jobs, stateDir }: PipelineContext): Promise<void> {
  const isLive = async (jobId: string): Promise<boolean | undefined> => {
    if (jobId === ownId) return false
    const found = await jobs.get(jobId)
    if (found === null) return undefined
    if (isEnded(found.status) || found.holder === null) return false
    // A killed process keeps its lease until another asks for it.
    return (await jobs.freeDead()) ? isLive(jobId) : true
  }
  await clearStaleParts(dirname(output), isLive)
  await clearStaleWork(stateDir, isLive)
}
