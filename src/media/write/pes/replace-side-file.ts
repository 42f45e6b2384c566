import { rename, rm } from 'node:fs/promises'
import { writeBuffers } from '../../pcm/pcm-file.js'

/** Replaces the content of a side file by buffers, which may be made of it. */
export async function replaceSideFile(
  path: string,
  buffers: AsyncIterable<Buffer>,
  signal: AbortSignal | undefined,
): Promise<void> {
  const replaced = `${path}.replaced`
  try {
    await writeBuffers(buffers, replaced, signal)
    await rename(replaced, path)
  } finally {
    await rm(replaced, { force: true })
  }
}
