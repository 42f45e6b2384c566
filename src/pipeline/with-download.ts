import { mkdir, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { downloadAddress, safeAddress } from '../client/index.js'
import type { PipelineContext } from './context.js'
import { valueSha256 } from './file-identity.js'

/** Names that a file system takes from any address. */
const UNSAFE = /[^\p{L}\p{N}._ -]/gu

/**
 * Downloads an address into the state folder, has it worked on as a local file, and deletes it.
 *
 * @throws UsageError `ERR_BAD_ADDRESS`, and what the download and the work throw
 */
export async function withDownload<T>(
  address: string,
  { stateDir, logger }: Pick<PipelineContext, 'stateDir' | 'logger'>,
  signal: AbortSignal | undefined,
  work: (local: string) => Promise<T>,
): Promise<T> {
  const folder = join(stateDir, 'downloads', valueSha256(address))
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const local = join(folder, fileName(address))
    await downloadAddress(address, local, { signal, logger })
    return await work(local)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function fileName(address: string): string {
  const last = basename(safeAddress(address, 'The input').pathname)
  const name = (decodeOrKeep(last).replace(UNSAFE, '_') || 'download').replace(/^\.+/, '_')
  return Buffer.byteLength(name) > 200 ? name.slice(-100) : name
}

function decodeOrKeep(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
