import { stat } from 'node:fs/promises'
import { dirname, sep } from 'node:path'
import { withDeadline } from '../../../src/core/with-deadline.js'
import type { SeenMounts } from '../intake/seen-files.js'
import type { WatchedFolder } from '../watched-folder.js'
import { prepareFolder } from './prepare-folder.js'
import { linkOut } from './require-inside.js'

/** A dead share answers after minutes, if at all. */
const ANSWER_MS = 15_000

/** The places of a watched folder: itself, and those that it fills. Any of them may be on a share of its own. */
export class FolderPlaces {
  readonly folder: WatchedFolder
  readonly #mounts: SeenMounts
  readonly #all: readonly string[]
  #looking: Promise<string | null> | undefined

  /** @param mounts where each place was mounted when it was last there; written to as well */
  constructor(folder: WatchedFolder, mounts: SeenMounts) {
    const { path, out, failed, done, source } = folder
    this.folder = folder
    this.#mounts = mounts
    this.#all = [path, out, failed, ...(source === 'move' ? [done] : [])]
  }

  /**
   * Why files cannot be worked on now, for people: a place is not there, does not answer, or is the bare place where a
   * share was mounted before. Null where all is well.
   *
   * @param make whether places that the folder fills are made: not on the bare place of a share
   * @throws UsageError `ERR_WATCH_FOLDER` where they cannot be what they are configured to be
   */
  async absence({ make }: { readonly make: boolean }): Promise<string | null> {
    // Of a share that hangs nobody asks a second time: each question would hold a thread of the process.
    this.#looking ??= this.#look(make).finally(() => {
      this.#looking = undefined
    })
    return withDeadline(this.#looking, ANSWER_MS, () => `${this.folder.path} does not answer.`)
  }

  async #look(make: boolean): Promise<string | null> {
    const { group, path } = this.folder
    const root = await absenceOf(path)
    if (root !== null) return root
    const found = new Map<string, string>()
    for (const place of this.#all) {
      const mount = await mountPointOf(place).catch((error) => error as NodeJS.ErrnoException)
      if (mount instanceof Error) return reasonOf(place, mount)
      const before = this.#mounts.mountOf(group, place)
      // Both are folders of one path: the shorter is the one further up.
      if (before !== null && mount.length < before.length)
        return (
          `The share of ${place} is not mounted on ${before} any more; ` +
          'if it has moved for good, start once with --as-mounted.'
        )
      if (before !== mount) found.set(place, mount)
    }
    if (make) await prepareFolder(this.folder)
    for (const place of this.#all) {
      // A job makes again what is in the folder itself, but never behind a link that was put there meanwhile.
      const missing = place.startsWith(path + sep) ? await linkOut(path, place) : await absenceOf(place)
      if (missing !== null) return missing
    }
    for (const [place, mount] of found) this.#mounts.putMount(group, place, mount)
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

/**
 * The mount point that a path lies on, or would lie on where it is not there: the highest of its folders on its own
 * device. Unlike a device's number it is the same after a restart of the machine, and a share that is gone leaves
 * a path on one further up.
 *
 * @param path absolute
 * @throws what the file system says of a folder that is there and does not answer
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

/** Null for what is not there. */
async function deviceOf(folder: string): Promise<bigint | null> {
  try {
    // Of what is in the folder: asked for by its own name, a share that mounts itself when it is needed would not.
    return (await stat(`${folder}/.`, { bigint: true })).dev
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if ((code === 'ENOENT' || code === 'ENOTDIR') && dirname(folder) !== folder) return null
    throw error
  }
}
