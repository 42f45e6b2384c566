import { opendir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { WatchedFolder } from './watched-folder.js'

/** How the root of a watched folder was found. */
export type RootLook =
  | { readonly state: 'online'; readonly dev: bigint }
  /** `reason` is for people. */
  | { readonly state: 'offline'; readonly reason: string }

/** A dead share answers after minutes, if at all. */
const ANSWER_MS = 15_000

/**
 * Looks whether the root is there: a folder that answers, and not the empty place where a share was mounted before.
 *
 * @param knownDev device of the root when it was last there; null where it was never seen
 */
export async function lookAtRoot(folder: WatchedFolder, knownDev: bigint | null): Promise<RootLook> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<RootLook>((resolve) => {
    timer = setTimeout(() => resolve({ state: 'offline', reason: `${folder.path} does not answer.` }), ANSWER_MS)
  })
  try {
    return await Promise.race([look(folder, knownDev), late])
  } catch (error) {
    return { state: 'offline', reason: reasonOf(folder.path, error as NodeJS.ErrnoException) }
  } finally {
    clearTimeout(timer)
  }
}

async function look(folder: WatchedFolder, knownDev: bigint | null): Promise<RootLook> {
  const { path } = folder
  const stats = await stat(path, { bigint: true })
  if (!stats.isDirectory()) return { state: 'offline', reason: `${path} is not a folder any more.` }
  // A number of its own for each mount: another one with nothing in it is the bare place where it was mounted.
  if (knownDev !== null && knownDev !== stats.dev && (await isBare(folder)))
    return { state: 'offline', reason: `${path} is empty and on another disk than before: nothing is mounted there.` }
  return { state: 'online', dev: stats.dev }
}

/** True for a folder with nothing in it but what voxmux makes itself. */
async function isBare({ path, out, failed, done }: WatchedFolder): Promise<boolean> {
  for await (const { name } of await opendir(path)) {
    if (!name.startsWith('.') && ![out, failed, done].includes(join(path, name))) return false
  }
  return true
}

function reasonOf(path: string, { code, message }: NodeJS.ErrnoException): string {
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return `${path} is not there.`
    case 'EACCES':
    case 'EPERM':
      return `${path} cannot be read: no permission.`
    case 'ENOTCONN':
    case 'EHOSTDOWN':
    case 'EHOSTUNREACH':
    case 'ESTALE':
    case 'ETIMEDOUT':
    case 'EIO':
      return `${path} is on a share that does not answer (${code}).`
    default:
      return `${path} cannot be read: ${message}.`
  }
}
