import { constants } from 'node:fs'
import { access, chmod, copyFile, link, rename, rm, stat, utimes } from 'node:fs/promises'
import { dirname, extname, join } from 'node:path'
import { toVoxmuxError, UsageError } from '../../core/errors.js'
import { fileSha256 } from '../../core/file-identity.js'
import { makeFolder, reasonAgainstFolder } from '../../core/make-folder.js'
import { openedOnce, sharedWhileRunning } from '../../core/waiting.js'
import { type CacheEntry, cacheEntries, cacheFileName, cacheShard, entriesOfKey, lastUsedMs } from './cache-entries.js'
import { partName, sweepParts } from './part-files.js'

interface VoiceCacheOptions {
  /**
   * Above this size, the least recently used voices are deleted, and a twentieth more to make room. Checked only from
   * time to time: the cache may be larger for a while, especially if many processes fill it.
   */
  readonly maxBytes: number
}

/** Share of the limit that remains after a deletion. */
const KEPT_SHARE = 0.95
/** Share of the free room that one process fills before the folder is checked again. */
const ROOM_SHARE = 0.25

/** Regenerated audio in the cache, verified. */
interface CachedVoice {
  readonly path: string
  readonly sizeBytes: number
  /** Lower-case hex. */
  readonly sha256: string
}

/**
 * Regenerated audio by voice key, in a folder that many processes share. A file's name contains its size and SHA-256.
 * The file therefore appears complete or not at all, and can be verified on reading.
 */
export class VoiceCache {
  readonly #folder: string
  readonly #maxBytes: number
  /** Bytes that may be added before the folder is checked again. */
  #room = 0
  readonly #ready = openedOnce(() => this.#prepare())
  /** Deletes the least recently used files until the rest fits. Concurrent calls share one run. */
  readonly #makeRoom = sharedWhileRunning(() => this.#clear())
  /** The files that are being stored. Several may share one run that makes room. */
  readonly #arriving = new Set<{ readonly path: string }>()

  constructor(folder: string, { maxBytes }: VoiceCacheOptions) {
    this.#folder = folder
    this.#maxBytes = maxBytes
  }

  /** Requires a folder that can be used. Call it before a voice is paid for. @throws {UsageError} `ERR_CACHE_DIR` */
  requireFolder(): Promise<void> {
    return this.#attempt(async () => {})
  }

  /**
   * Stores regenerated audio: as a hard link if possible, else as a copy. The source stays, but must not be changed any
   * more. The newest file is never deleted, however large. Files are not synced to disk: the hash reveals damage by a
   * power cut, and the audio is downloaded again.
   *
   * @param key at most 120 letters, digits, `-`, `_`
   */
  put(key: string, sourcePath: string): Promise<CachedVoice> {
    return this.#attempt(async () => {
      const part = join(this.#folder, partName())
      try {
        await linkOrCopy(sourcePath, part)
        // A share may not support modes; close the file to others if possible.
        await chmod(part, 0o600).catch(() => {})
        const { size: sizeBytes } = await stat(part)
        const sha256 = await fileSha256(part)
        const name = cacheFileName({ key, sizeBytes, sha256, extension: extname(sourcePath).toLowerCase() })
        const path = join(this.#folder, cacheShard(key), name)
        makeFolder(dirname(path), 0o700)
        // Before it appears: another process that makes room deletes what was not used for long.
        await touch(part)
        await this.#arrive(part, { path, sizeBytes, key })
        return { path, sizeBytes, sha256 }
      } finally {
        // POSIX: rename does nothing if both names are the same file.
        await rm(part, { force: true })
      }
    })
  }

  async #arrive(part: string, arrival: Pick<CacheEntry, 'path' | 'sizeBytes' | 'key'>): Promise<void> {
    const { path, sizeBytes, key } = arrival
    this.#arriving.add(arrival)
    try {
      await rename(part, path)
      for (const older of await entriesOfKey(this.#folder, key))
        if (older.path !== path) await rm(older.path, { force: true })
      this.#room -= sizeBytes
      if (this.#room < 0) await this.#makeRoom()
    } finally {
      this.#arriving.delete(arrival)
    }
  }

  /** Finds regenerated audio, verifies size and SHA-256 and marks it as used. Deletes damaged files. */
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
   * Like {@link get}, with a separate link or copy at `targetPath`, which must not exist. It stays there even if
   * another process deletes the cached file. Never write into it.
   */
  async take(key: string, targetPath: string): Promise<CachedVoice | null> {
    const found = await this.get(key)
    if (!found) return null
    try {
      await linkOrCopy(found.path, targetPath)
    } catch (error) {
      // Another process has just deleted it.
      if ((await lastUsedMs(found.path)) === undefined) return null
      throw toVoxmuxError(error, targetPath)
    }
    return { ...found, path: targetPath }
  }

  forget(key: string): Promise<void> {
    return this.#attempt(async () => {
      for (const { path } of await entriesOfKey(this.#folder, key)) await rm(path, { force: true })
    })
  }

  async #clear(): Promise<void> {
    const aged: (Pick<CacheEntry, 'path' | 'sizeBytes'> & { readonly usedMs: number })[] = []
    let total = 0
    for await (const entries of cacheEntries(this.#folder)) {
      for (const { path, sizeBytes } of entries) {
        total += sizeBytes
        aged.push({ path, sizeBytes, usedMs: (await lastUsedMs(path)) ?? 0 })
      }
    }
    if (total > this.#maxBytes) {
      for (const { path, sizeBytes } of aged.sort((a, b) => a.usedMs - b.usedMs)) {
        if (total <= this.#maxBytes * KEPT_SHARE) break
        if ([...this.#arriving].some((arrival) => arrival.path === path)) continue
        await rm(path, { force: true })
        total -= sizeBytes
      }
    }
    this.#room = (this.#maxBytes - total) * ROOM_SHARE
  }

  async #attempt<T>(work: () => Promise<T>): Promise<T> {
    try {
      await this.#ready.opened()
      return await work()
    } catch (error) {
      throw error instanceof TypeError ? error : toVoxmuxError(error, this.#folder)
    }
  }

  /** Creates the folder and deletes the part files of killed processes. */
  async #prepare(): Promise<void> {
    try {
      makeFolder(this.#folder, 0o700)
      await access(this.#folder, constants.R_OK | constants.W_OK | constants.X_OK)
      await sweepParts(this.#folder)
    } catch (error) {
      throw unusableFolder(this.#folder, error)
    }
  }
}

function unusableFolder(folder: string, cause: unknown): unknown {
  const reason = reasonAgainstFolder(cause)
  if (reason === undefined) return cause
  return new UsageError('ERR_CACHE_DIR', `The folder of the cache, ${folder}, cannot be used: ${reason}.`, {
    cause,
    input: folder,
    remedies: ['Give the user that runs voxmux access to it, or name another folder in cacheDir.'],
  })
}

async function linkOrCopy(source: string, target: string): Promise<void> {
  try {
    await link(source, target)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // Another file system, no support for hard links, or too many links.
    if (code === 'ENOENT' || code === 'EEXIST') throw error
    await copyFile(source, target, constants.COPYFILE_EXCL)
  }
}

async function isWhole(path: string, sizeBytes: number, sha256: string): Promise<boolean> {
  try {
    return (await stat(path)).size === sizeBytes && (await fileSha256(path)) === sha256
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}

/**
 * Marks a file as used, if it is there and its share lets times be set. Without the mark it may be deleted early and
 * downloaded again, which costs less than to fail a voice that is paid for.
 */
async function touch(path: string): Promise<void> {
  const now = new Date()
  await utimes(path, now, now).catch(() => {})
}
