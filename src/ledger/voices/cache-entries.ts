import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** Facts in the name of a cached file. */
interface CacheName {
  readonly key: string
  readonly sizeBytes: number
  /** Lower-case hex. */
  readonly sha256: string
  /** With its dot, or ''. */
  readonly extension: string
}

export interface CacheEntry extends CacheName {
  readonly path: string
}

const NAME = /^([\w-]{1,120})~(\d+)~([0-9a-f]{64})(\.\w{1,10})?$/

/** Name of a file in the cache. It contains everything to verify the file, so both appear at once. */
export function cacheFileName({ key, sizeBytes, sha256, extension }: CacheName): string {
  const name = `${key}~${sizeBytes}~${sha256}${extension}`
  if (!NAME.test(name)) throw new TypeError('A voice key consists of at most 120 letters, digits, - and _.')
  return name
}

/** Subfolder of a key in the cache, so that finding one voice among a million reads few names. */
export function cacheShard(key: string): string {
  return key.slice(0, 2)
}

/** The files of one key: the latest regenerated audio and older ones. */
export async function entriesOfKey(folder: string, key: string): Promise<CacheEntry[]> {
  return (await entriesIn(join(folder, cacheShard(key)))).filter((entry) => entry.key === key)
}

/** All files of a cache folder in no order, one shard at a time. Ignores other names. */
export async function* cacheEntries(folder: string): AsyncGenerator<CacheEntry[]> {
  for (const name of await readdir(folder)) if (name.length <= 2) yield await entriesIn(join(folder, name))
}

async function entriesIn(shard: string): Promise<CacheEntry[]> {
  const names = await readdir(shard).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return []
    throw error
  })
  return names.flatMap((name) => {
    const [, key, size, sha256, extension = ''] = NAME.exec(name) ?? []
    if (key === undefined || sha256 === undefined) return []
    return [{ key, sizeBytes: Number(size), sha256, extension, path: join(shard, name) }]
  })
}

/** Time of a file's last use (its mtime, Unix milliseconds); undefined if it is gone. */
export async function lastUsedMs(path: string): Promise<number | undefined> {
  return stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => undefined,
  )
}
