import type { BigIntStats } from 'node:fs'
import { stat } from 'node:fs/promises'

/**
 * Whether two paths lead to one file: through a link, another mount of its folder, or a name whose case the file system
 * does not tell apart. False where either is not there.
 */
export async function isSameFile(one: string, other: string): Promise<boolean> {
  const [first, second] = await Promise.all([one, other].map((path) => stat(path, { bigint: true }).catch(() => null)))
  return !!first && !!second && isSame(first, second)
}

/** Size and time too: there are file systems whose file numbers are all 0, or not a file's own. */
function isSame(one: BigIntStats, other: BigIntStats): boolean {
  return one.dev === other.dev && one.ino === other.ino && one.size === other.size && one.mtimeNs === other.mtimeNs
}
