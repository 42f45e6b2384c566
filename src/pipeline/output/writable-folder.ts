import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { access, lstat, open, rm, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { systemCode, UsageError } from '../../core/errors.js'
import { makeDurableFolder, nearestExisting, reasonAgainstFolder } from '../../core/make-folder.js'
import { inodeShortage, noSpace } from './free-space.js'

/** Names of the files of {@link probePath}. */
export const PROBE_NAME = /^\.voxmux-[0-9a-f-]+\.probe$/

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
