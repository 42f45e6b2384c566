import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { syncFolder } from '../../core/sync-folder.js'

/** Prefix of the name of an incomplete file. */
export const PART = '.part-'

export interface WriteWholeOptions {
  readonly signal?: AbortSignal | undefined
  /** Throws if the file must not appear any more. Asked when all bytes are on disk, which can take seconds. */
  readonly assertOpen?: (() => Promise<void>) | undefined
}

/**
 * Writes a file completely or not at all. Streams into a part file, flushes it to disk and renames it. Flushes the name
 * too before it returns.
 *
 * @throws every error of the streams and of `assertOpen`; nothing remains then
 */
export async function writeWhole(
  target: string,
  streams: readonly (Readable | Transform)[],
  { signal, assertOpen }: WriteWholeOptions,
): Promise<void> {
  const part = join(dirname(target), `${PART}${randomUUID()}`)
  try {
    await pipeline([...streams, createWriteStream(part, { mode: 0o600, flush: true })], signal ? { signal } : {})
    await assertOpen?.()
    await rename(part, target)
    await syncFolder(dirname(target))
  } catch (error) {
    await rm(part, { force: true })
    throw error
  }
}
