import type { BigIntStats } from 'node:fs'
import { stat } from 'node:fs/promises'

/**
 * True if two paths lead to one file: through a link, another mount, or a name in different case. False if either does
 * not exist.
 */
export async function isSameFile(one: string, other: string): Promise<boolean> {
  const [first, second] = await Promise.all([one, other].map((path) => stat(path, { bigint: true }).catch(() => null)))
  return !!first && !!second && isSame(first, second)
}

/** Compares size and time too: on some file systems all file numbers are 0, or are not unique. */
function isSame(one: BigIntStats, other: BigIntStats): boolean {
  return one.dev === other.dev && one.ino === other.ino && one.size === other.size && one.mtimeNs === other.mtimeNs
}
