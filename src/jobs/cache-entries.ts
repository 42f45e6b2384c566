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

/** The files of a cache folder, in no order; other names there are left alone. */
export async function cacheEntries(folder: string): Promise<CacheEntry[]> {
  const names = await readdir(folder)
  return names.flatMap((name) => {
    const [, key, size, sha256, extension = ''] = NAME.exec(name) ?? []
    if (key === undefined || sha256 === undefined) return []
    return [{ key, sizeBytes: Number(size), sha256, extension, path: join(folder, name) }]
  })
}

/** When a file was last used (its mtime, Unix milliseconds); undefined where it is gone. */
export async function lastUsedMs(path: string): Promise<number | undefined> {
  return stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => undefined,
  )
}
