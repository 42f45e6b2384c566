import { rename, rm } from 'node:fs/promises'
import { writeBuffers } from '../../pcm/pcm-file.js'

/** Size of one write. Units and frames are much shorter. */
const BLOCK_BYTES = 1024 ** 2

/** Replaces the content of a side file by buffers with memory of their own, which may be made of it. */
export async function replaceSideFile(
  path: string,
  buffers: AsyncIterable<Buffer>,
  signal: AbortSignal | undefined,
): Promise<void> {
  const replaced = `${path}.replaced`
  try {
    await writeBuffers(inBlocks(buffers), replaced, signal)
    await rename(replaced, path)
  } finally {
    await rm(replaced, { force: true })
  }
}

async function* inBlocks(buffers: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let block: Buffer[] = []
  let bytes = 0
  for await (const buffer of buffers) {
    block.push(buffer)
    bytes += buffer.length
    if (bytes < BLOCK_BYTES) continue
    yield Buffer.concat(block)
    block = []
    bytes = 0
  }
  yield Buffer.concat(block)
}
