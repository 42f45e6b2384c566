import { opendir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** The limit of watches per user, and those of all processes that this user may inspect; null outside Linux. */
export async function inotifyWatches() {
  const limit = await readFile('/proc/sys/fs/inotify/max_user_watches', 'utf8').catch(() => null)
  if (limit === null) return null
  const processes = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  let used = 0
  for (const pid of processes) used += await watchesOf(join('/proc', pid))
  return { most: Number(limit), used }
}

/** Processes of other users, and those that just ended, cannot be inspected and count as none. */
async function watchesOf(process: string): Promise<number> {
  const descriptors = await readdir(join(process, 'fd'), { withFileTypes: true }).catch(() => [])
  let watches = 0
  for (const { name } of descriptors) {
    const info = await readFile(join(process, 'fdinfo', name), 'utf8').catch(() => '')
    watches += info.split('\n').filter((line) => line.startsWith('inotify ')).length
  }
  return watches
}

/** Number of folders in a folder, itself included, up to a limit. Links are not followed. */
export async function countFolders(path: string, most: number): Promise<number> {
  let count = 1
  const left = [path]
  for (let next = left.pop(); next !== undefined && count < most; next = left.pop()) {
    const folder = await opendir(next).catch(() => null)
    if (folder === null) continue
    for await (const entry of folder) {
      if (!entry.isDirectory()) continue
      count += 1
      left.push(join(next, entry.name))
    }
  }
  return count
}
