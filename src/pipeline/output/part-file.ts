import { randomBytes } from 'node:crypto'
import { lstat, readdir, rm, stat, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { DAY_MS } from '../../core/time.js'
import { PROBE_NAME } from './writable-folder.js'

/** Names of parts, without the random part in those of earlier versions. They are short, because paths may be long. */
const PART_NAME = /^\.voxmux-(.+?)(?:-[0-9a-f]{24})?\.part(?:\..*)?$/
/** Shortest age to remove a part file of an unknown ledger, such as another machine's. */
const FOREIGN_PART_MS = DAY_MS
/** Codes of a part that only another user may remove, and of one that another process has removed. */
const MAY_STAY: ReadonlySet<string> = new Set(['EPERM', 'EACCES', 'ENOENT'])

/**
 * Names a hidden file in the destination's folder, in which a job builds its output. Each call returns another name.
 * Receipts publish the job's id, so a predictable name would let an attacker put a link in the place of the part.
 */
export function partPath(output: string, jobId: string, ending: '' | PartEnding = ''): string {
  return join(dirname(output), `.voxmux-${jobId}-${randomBytes(12).toString('hex')}.part${ending}`)
}

/** Ends the name of the part of a file beside the output: its receipt, its sidecar of Content Credentials, its report. */
type PartEnding = '.json' | '.c2pa' | '.html'

/**
 * Removes the part files and probes that a killed process left in a folder.
 *
 * @param isLive returns whether a process runs that job now; undefined if this ledger does not have the job
 */
export async function clearStaleParts(
  folder: string,
  isLive: (jobId: string) => Promise<boolean | undefined>,
): Promise<void> {
  const names = await readdir(folder).catch(() => [])
  for (const name of names) {
    const path = join(folder, name)
    if (PROBE_NAME.test(name)) await removeLeft(path)
    const jobId = PART_NAME.exec(name)?.[1]
    if (jobId === undefined) continue
    const live = await isLive(jobId)
    if (live === false || (live === undefined && (await ageMs(path)) > FOREIGN_PART_MS)) await removeLeft(path)
  }
}

/** Removes a part: a file, or the folder of a bundle. One of another user stays, because no job may fail for it. */
async function removeLeft(path: string): Promise<void> {
  try {
    if ((await lstat(path)).isDirectory()) await rm(path, { recursive: true, force: true })
    else await unlink(path)
  } catch (error) {
    if (!MAY_STAY.has((error as NodeJS.ErrnoException).code ?? '')) throw error
  }
}

/** Time since a file or folder was changed; 0 if it is gone. */
export async function ageMs(path: string): Promise<number> {
  const found = await stat(path).catch(() => undefined)
  return found ? Date.now() - found.mtimeMs : 0
}
