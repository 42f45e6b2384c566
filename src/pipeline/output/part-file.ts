import { randomBytes, randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { access, lstat, open, readdir, rm, stat, unlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { systemCode, UsageError } from '../../core/errors.js'
import { makeDurableFolder, nearestExisting, reasonAgainstFolder } from '../../core/make-folder.js'
import { DAY_MS } from '../../core/time.js'
import { inodeShortage, noSpace } from './free-space.js'

/** Names of parts, without the random part in those of earlier versions. They are short, because paths may be long. */
const PART_NAME = /^\.voxmux-(.+?)(?:-[0-9a-f]{24})?\.part(?:\..*)?$/
/** Names of the files that test whether a folder is writable. */
const PROBE_NAME = /^\.voxmux-[0-9a-f-]+\.probe$/
/** Shortest age to remove a part file of an unknown ledger, such as another machine's. */
const FOREIGN_PART_MS = DAY_MS
/** Codes of a part that only another user may remove, and of one that another process has removed. */
const MAY_STAY: ReadonlySet<string> = new Set(['EPERM', 'EACCES', 'ENOENT'])

/**
 * Names a hidden file in the destination's folder, in which a job builds its output. Each call returns another name.
 * Receipts publish the job's id, so a predictable name would let an attacker put a link in the place of the part.
 */
export function partPath(output: string, jobId: string): string {
  return join(dirname(output), `.voxmux-${jobId}-${randomBytes(12).toString('hex')}.part`)
}

/** Names a hidden file in which a receipt is built. */
export function receiptPartPath(output: string, jobId: string): string {
  return `${partPath(output, jobId)}.json`
}

/** Names a hidden file in which the sidecar of Content Credentials is built. */
export function sidecarPartPath(output: string, jobId: string): string {
  return `${partPath(output, jobId)}.c2pa`
}

/** Names a hidden file in which a report is built. */
export function reportPartPath(output: string, jobId: string): string {
  return `${partPath(output, jobId)}.html`
}

/** A hidden file that is written to see what a folder can do: after a kill the next job in that folder clears it. */
export function probePath(folder: string): string {
  // As long as the longest name of a part.
  return join(folder, `.voxmux-${randomUUID()}-${randomUUID()}.probe`)
}

/** Writes a file into a folder and removes it. @throws the system's fault: `access` permits root too much */
export async function tryWriting(folder: string): Promise<void> {
  const probe = probePath(folder)
  await (await open(probe, 'wx')).close()
  await rm(probe, { force: true })
}

/** True if names that differ only in case are one file in a folder, as on macOS and Windows. False if it cannot be told. */
export async function foldsCase(folder: string): Promise<boolean> {
  const probe = probePath(folder)
  try {
    await (await open(probe, 'wx')).close()
    const other = join(folder, basename(probe).toUpperCase())
    return (await lstat(other).catch(() => undefined)) !== undefined
  } catch {
    return false
  } finally {
    await rm(probe, { force: true }).catch(() => {})
  }
}

/** Requires or creates a folder that can be written. @throws {UsageError} `ERR_OUTPUT_UNWRITABLE` */
export async function requireWritableFolder(folder: string): Promise<void> {
  try {
    await makeDurableFolder(folder)
    await access(folder, constants.W_OK | constants.X_OK)
    await tryWriting(folder)
  } catch (cause) {
    const code = systemCode(cause)
    if (code === 'ENOSPC' || code === 'EDQUOT') throw noSpace(folder, cause, await inodeShortage(folder))
    throw unwritable(folder, cause)
  }
}

/** Does {@link requireWritableFolder} without writing. @throws {UsageError} `ERR_OUTPUT_UNWRITABLE` */
export async function checkWritableFolder(folder: string): Promise<void> {
  const existing = await nearestExisting(folder)
  try {
    if (!(await stat(existing)).isDirectory()) throw new Error(`${existing} is not a folder`)
    await access(existing, constants.W_OK | constants.X_OK)
  } catch (cause) {
    throw unwritable(folder, cause)
  }
}

function unwritable(folder: string, cause: unknown): UsageError {
  const reason = reasonAgainstFolder(cause)
  const why = reason === undefined ? '' : `: ${reason}`
  return new UsageError('ERR_OUTPUT_UNWRITABLE', `Cannot write into the folder ${folder}${why}.`, {
    cause,
    input: folder,
    remedies:
      systemCode(cause) === 'EROFS'
        ? ['Choose another place, or mount this one writable. A systemd unit names it under ReadWritePaths.']
        : ['Choose another place with --output, or correct the permissions of this one.'],
  })
}

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
