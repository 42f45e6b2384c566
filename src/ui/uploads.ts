import { createWriteStream } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { basename, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { requireFreeSpace } from '../pipeline/output/free-space.js'

/** Characters that some file systems do not accept in a name. */
const UNSAFE = /[\p{Cc}/\\:*?"<>|]/gu
const LONGEST_NAME = 100

/**
 * Saves a file that was dropped on the page. A browser does not say where such a file lies, so its bytes are copied into
 * a private folder.
 *
 * @returns path of the copy
 * @throws {TransientError} `ERR_DISK_FULL`
 */
export async function saveUpload(request: IncomingMessage, name: string, folder: string): Promise<string> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const own = await mkdtemp(join(folder, 'dropped-'))
  const safe = basename(name.replace(UNSAFE, '_')).replace(/^\.+/, '_').slice(-LONGEST_NAME) || 'dropped'
  const path = join(own, safe)
  try {
    await requireFreeSpace(new Map([[own, Number(request.headers['content-length'] ?? 0)]]))
    await pipeline(request, createWriteStream(path, { flags: 'wx', mode: 0o600 }))
    return path
  } catch (error) {
    await rm(own, { recursive: true, force: true })
    throw error
  }
}
