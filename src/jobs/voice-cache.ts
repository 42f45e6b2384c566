import { createHash } from 'node:crypto'
import { constants, createReadStream } from 'node:fs'
import { copyFile, link, mkdir, rename, rm, stat, utimes } from 'node:fs/promises'
import { dirname, extname, join } from 'node:path'
import { toVoxmuxError } from '../core/errors.js'
import { type CacheEntry, cacheEntries, cacheFileName, cacheShard, entriesOfKey, lastUsedMs } from './cache-entries.js'
import { partName, sweepParts } from './part-files.js'

export interface VoiceCacheOptions {
  /**
   * Beyond this the voices unused for longest go, and a twentieth more, so that the next ones find room. Looked after
   * from time to time: the cache may hold somewhat more for a while, the more so the more processes fill it.
   */
  readonly maxBytes: number
}

/** What stays, of the limit, where something has to go. */
const KEPT_SHARE = 0.95
/** The folder is looked through again when one process has filled so much of the room that there was. */
const ROOM_SHARE = 0.25

/** A regenerated voice that the cache has, unharmed. */
export interface CachedVoice {
  readonly path: string
  readonly sizeBytes: number
  /** Lower-case hex. */
  readonly sha256: string
}

/**
 * Regenerated voices by voice key, in a folder that many processes share. A file's name holds its size and SHA-256,
 * so that it appears whole or not at all and can be proved when it is taken out.
 */
export class VoiceCache {
  readonly #folder: string
  readonly #maxBytes: number
  #ready: Promise<void> | undefined
  /** Bytes that may be put before the folder is looked through again. */
  #room = 0
  #clearing: Promise<void> | undefined

  constructor(folder: string, { maxBytes }: VoiceCacheOptions) {
    this.#folder = folder
    this.#maxBytes = maxBytes
  }

  /**
   * Keeps a voice: hard-linked where the file system can, copied else; the source stays, and nobody may write into it
   * any more. What was kept last is never the one to go, however large it is. Not synced to the disk: what a power loss
   * damages is known by its hash, and fetched again.
   *
   * @param key at most 120 letters, digits, `-`, `_`
   */
  put(key: string, sourcePath: string): Promise<CachedVoice> {
    return this.#attempt(async () => {
      const part = join(this.#folder, partName())
      try {
        await linkOrCopy(sourcePath, part)
        const { size: sizeBytes } = await stat(part)
        const sha256 = await sha256Of(part)
        const name = cacheFileName({ key, sizeBytes, sha256, extension: extname(sourcePath).toLowerCase() })
        const path = join(this.#folder, cacheShard(key), name)
        await mkdir(dirname(path), { recursive: true, mode: 0o700 })
        await rename(part, path)
        await touch(path)
        for (const older of await entriesOfKey(this.#folder, key))
          if (older.path !== path) await rm(older.path, { force: true })
        this.#room -= sizeBytes
        if (this.#room < 0) await this.#makeRoom(path)
        return { path, sizeBytes, sha256 }
      } finally {
        // POSIX lets rename do nothing where both names are one file already.
        await rm(part, { force: true })
      }
    })
  }

  /** Finds a voice, proves size and SHA-256 and marks it as used now; a damaged one is deleted and not found. */
  get(key: string): Promise<CachedVoice | null> {
    return this.#attempt(async () => {
      for (const entry of await entriesOfKey(this.#folder, key)) {
        const { path, sizeBytes, sha256 } = entry
        if (await isWhole(path, sizeBytes, sha256)) {
          await touch(path)
          return { path, sizeBytes, sha256 }
        }
        await rm(path, { force: true })
      }
      return null
    })
  }

  /**
   * As {@link get}, with a link or copy of one's own at `targetPath` (which must not exist): it stays there for the
   * work that needs it, whatever other processes throw out of the cache. Never write into it.
   */
  async take(key: string, targetPath: string): Promise<CachedVoice | null> {
    const found = await this.get(key)
    if (!found) return null
    try {
      await linkOrCopy(found.path, targetPath)
    } catch (error) {
      // Thrown out in this very moment.
      if ((await lastUsedMs(found.path)) === undefined) return null
      throw toVoxmuxError(error, targetPath)
    }
    return { ...found, path: targetPath }
  }

  /** Throws a voice away. */
  forget(key: string): Promise<void> {
    return this.#attempt(async () => {
      for (const { path } of await entriesOfKey(this.#folder, key)) await rm(path, { force: true })
    })
  }

  /** Bytes in the cache. */
  sizeBytes(): Promise<number> {
    return this.#attempt(async () => {
      let sum = 0
      for await (const entries of cacheEntries(this.#folder)) for (const { sizeBytes } of entries) sum += sizeBytes
      return sum
    })
  }

  /** Deletes the voices unused for longest until the rest fits; one at a time, who comes meanwhile waits for it. */
  #makeRoom(keptPath: string): Promise<void> {
    this.#clearing ??= this.#clear(keptPath).finally(() => {
      this.#clearing = undefined
    })
    return this.#clearing
  }

  async #clear(keptPath: string): Promise<void> {
    const aged: (Pick<CacheEntry, 'path' | 'sizeBytes'> & { readonly usedMs: number })[] = []
    let total = 0
    for await (const entries of cacheEntries(this.#folder)) {
      for (const { path, sizeBytes } of entries) {
        total += sizeBytes
        if (path !== keptPath) aged.push({ path, sizeBytes, usedMs: (await lastUsedMs(path)) ?? 0 })
      }
    }
    if (total > this.#maxBytes) {
      for (const { path, sizeBytes } of aged.sort((a, b) => a.usedMs - b.usedMs)) {
        if (total <= this.#maxBytes * KEPT_SHARE) break
        await rm(path, { force: true })
        total -= sizeBytes
      }
    }
    this.#room = (this.#maxBytes - total) * ROOM_SHARE
  }

  async #attempt<T>(work: () => Promise<T>): Promise<T> {
    try {
      this.#ready ??= this.#prepare()
      await this.#ready
      return await work()
    } catch (error) {
      throw error instanceof TypeError ? error : toVoxmuxError(error, this.#folder)
    }
  }

  /** Makes the folder and clears what killed processes left. */
  async #prepare(): Promise<void> {
    try {
      await mkdir(this.#folder, { recursive: true, mode: 0o700 })
      await sweepParts(this.#folder)
    } catch (error) {
      this.#ready = undefined
      throw error
    }
  }
}

async function linkOrCopy(source: string, target: string): Promise<void> {
  try {
    await link(source, target)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // Another file system, or one without hard links, or one more link than it allows.
    if (code === 'ENOENT' || code === 'EEXIST') throw error
    await copyFile(source, target, constants.COPYFILE_EXCL)
  }
}

async function isWhole(path: string, sizeBytes: number, sha256: string): Promise<boolean> {
  try {
    return (await stat(path)).size === sizeBytes && (await sha256Of(path)) === sha256
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}

async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path)) hash.update(chunk)
  return hash.digest('hex')
}

/** Used now; that it is gone in the same moment is no fault here. */
async function touch(path: string): Promise<void> {
  const now = new Date()
  await utimes(path, now, now).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
  })
}
