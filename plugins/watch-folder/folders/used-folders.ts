import { stat } from 'node:fs/promises'
import { dirname, sep } from 'node:path'
import { systemCode } from '../../../src/core/errors.js'
import { sharedWhileRunning, withDeadline } from '../../../src/core/waiting.js'
import type { SeenMounts } from '../intake/seen-files.js'
import type { Aftercare } from '../watched-folder.js'
import { prepareFolder } from './prepare-folder.js'
import { linkOut } from './require-inside.js'

/** A dead share responds after minutes or never. */
const ANSWER_MS = 15_000

/** The folders of a watched folder: itself and those that it fills. Each may be on a share of its own. */
export class UsedFolders {
  readonly folder: Aftercare
  readonly #mounts: SeenMounts
  readonly #all: readonly string[]
  /** Only one request goes to a share that hangs, because each holds a thread of the process. */
  readonly #look = sharedWhileRunning((make: boolean) => this.#examine(make))

  /** @param mounts the mount points of the folders when they were last present; updated here */
  constructor(folder: Aftercare, mounts: SeenMounts) {
    const { path, out, failed, done, source } = folder
    this.folder = folder
    this.#mounts = mounts
    this.#all = [path, out, failed, ...(source === 'move' ? [done] : [])]
  }

  /**
   * Why files cannot be processed now, for people: a folder is missing, does not respond, or is the bare mount point of
   * a share. Null if all is well.
   *
   * @param make creates the folders that it fills, but never on a bare mount point
   * @throws {UsageError} `ERR_WATCH_FOLDER` if they cannot be what they are configured to be
   */
  async absence({ make }: { readonly make: boolean }): Promise<string | null> {
    return withDeadline(this.#look(make), ANSWER_MS, () => `${this.folder.path} does not respond.`)
  }

  async #examine(make: boolean): Promise<string | null> {
    const { group, path } = this.folder
    const root = await absenceOf(path)
    if (root !== null) return this.#mounts.mountOf(group, path) === null ? ((await misnamed(path)) ?? root) : root
    const moved = await this.#movedMounts()
    if (typeof moved === 'string') return moved
    const missing = await this.#missingPlace(make ? await prepareFolder(this.folder) : new Map())
    if (missing !== null) return missing
    for (const [place, mount] of moved) this.#mounts.putMount(group, place, mount)
    return null
  }

  /** The folders on another mount point than before; or the reason why one of them cannot be used. */
  async #movedMounts(): Promise<ReadonlyMap<string, string> | string> {
    const moved = new Map<string, string>()
    for (const place of this.#all) {
      const mount = await mountPointOf(place).catch((error) => error as NodeJS.ErrnoException)
      if (mount instanceof Error) return reasonOf(place, mount)
      const before = this.#mounts.mountOf(this.folder.group, place)
      // Both are folders of one path: the shorter one is further up.
      if (before !== null && mount.length < before.length)
        return (
          `The share of ${place} is not mounted on ${before} any more; ` +
          'if it has moved for good, start once with --as-mounted.'
        )
      if (before !== mount) moved.set(place, mount)
    }
    return moved
  }

  /** Why a folder is missing. @param unmade reasons for those that could not be made */
  async #missingPlace(unmade: ReadonlyMap<string, string>): Promise<string | null> {
    const { path, out } = this.folder
    for (const place of this.#all) {
      // A job creates missing folders within the watched folder, but never behind a link.
      const missing = place.startsWith(path + sep) ? await linkOut(path, place) : await absenceOf(place)
      const reason = unmade.get(place)
      // Reports may be missing, but no job ends without the folder of its output.
      if (reason !== undefined && (missing !== null || place === out))
        return `${place} does not exist and cannot be made: ${reason}.`
      if (missing !== null) return missing
    }
    return null
  }
}

async function absenceOf(folder: string): Promise<string | null> {
  try {
    return (await stat(folder)).isDirectory() ? null : `${folder} is not a folder any more.`
  } catch (error) {
    return reasonOf(folder, error as NodeJS.ErrnoException)
  }
}

/** The reason for a folder that was never seen, and whose parent exists: probably a mistyped path. Otherwise null. */
async function misnamed(path: string): Promise<string | null> {
  const isThere = (folder: string) => stat(folder).catch(() => null)
  if ((await isThere(path)) !== null || !(await isThere(dirname(path)))?.isDirectory()) return null
  return `${path} does not exist, but ${dirname(path)} does: correct the path, create the folder, or mount its share.`
}

function reasonOf(path: string, fault: NodeJS.ErrnoException): string {
  const code = systemCode(fault)
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
      return `${path} is on a share that does not respond (${code}).`
    default:
      return `${path} cannot be read: ${fault.message}.`
  }
}

/**
 * The mount point of a path, which need not exist: the highest of its folders on its own device. Unlike a device number
 * it survives a restart of the machine, and a missing share leaves a mount point further up.
 *
 * @param path absolute
 * @throws the file system's error if an existing folder does not respond
 */
async function mountPointOf(path: string): Promise<string> {
  let place = path
  let device = await deviceOf(place)
  while (device === null) {
    place = dirname(place)
    device = await deviceOf(place)
  }
  for (let parent = dirname(place); parent !== place; parent = dirname(place)) {
    if ((await deviceOf(parent)) !== device) break
    place = parent
  }
  return place
}

/** Null if it does not exist. */
async function deviceOf(folder: string): Promise<bigint | null> {
  try {
    // Asks for its content, because an automounted share ignores a request for its name alone.
    return (await stat(`${folder}/.`, { bigint: true })).dev
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if ((code === 'ENOENT' || code === 'ENOTDIR') && dirname(folder) !== folder) return null
    throw error
  }
}
