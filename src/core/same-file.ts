import { stat } from 'node:fs/promises'

/** True if two paths lead to one existing file: through a link, another mount, or a name in different case. */
export async function isSameFile(one: string, other: string): Promise<boolean> {
  const [first, second] = await Promise.all([one, other].map((path) => stat(path, { bigint: true }).catch(() => null)))
  if (!first || !second || first.dev !== second.dev || first.ino !== second.ino) return false
  // On some file systems all file numbers are 0, or are not unique.
  return first.size === second.size && first.mtimeNs === second.mtimeNs
}
