import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * The mount point that a path lies on, or would lie on where it is not there: the highest of its folders on its own
 * device. Unlike a device's number it is the same after a restart of the machine, and a share that is gone leaves
 * a path on one further up.
 *
 * @param path absolute
 * @throws what the file system says of a folder that is there and does not answer
 */
export async function mountPointOf(path: string): Promise<string> {
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
