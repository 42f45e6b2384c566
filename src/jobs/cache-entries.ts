import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** What the name of a cached file says of it. */
export interface CacheName {
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

/** Name of a file in the cache: all that is to be proved of it stands there, and so appears with it at once. */
export function cacheFileName({ key, sizeBytes, sha256, extension }: CacheName): string {
  const name = `${key}~${sizeBytes}~${sha256}${extension}`
  if (!NAME.test(name)) throw new TypeError('A voice key consists of at most 120 letters, digits, - and _.')
  return name
}

/** Name of the folder of a key within the cache: to find one voice among a million, few names have to be read. */
export function cacheShard(key: string): string {
  return key.slice(0, 2)
}

/** The files of one key, the latest answer among older ones. */
export async function entriesOfKey(folder: string, key: string): Promise<CacheEntry[]> {
  return (await entriesIn(join(folder, cacheShard(key)))).filter((entry) => entry.key === key)
}

/** All files of a cache folder, in no order, a shard at a time; other names there are left alone. */
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

/** When a file was last used (its mtime, Unix milliseconds); undefined where it is gone. */
export async function lastUsedMs(path: string): Promise<number | undefined> {
  return stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => undefined,
  )
}
