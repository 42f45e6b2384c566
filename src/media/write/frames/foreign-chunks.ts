import type { FileHandle } from 'node:fs/promises'
import { type ByteRange, readAt } from '../../../core/read-at.js'
import { type CensusEntry, kept } from '../census.js'
import { type StaleChunk, staleChunks, staleEntries } from '../pcm-in-place/stale-chunks.js'
import type { Chunk } from '../structure/chunks.js'

/** Headers of a block and of an application. */
const HEAD_BYTES = 8
/** Bytes of a chunk's id and size, by the application that keeps it: the file from which the FLAC was made. */
const CHUNK_HEADS: Readonly<Record<string, number>> = { riff: 8, aiff: 8, 'w64 ': 24 }

/** Finds the chunks of a WAV, AIFF or W64 in the application blocks of a FLAC that state facts about the old sound. */
export async function staleForeignChunks(
  file: FileHandle,
  blocks: readonly ByteRange[],
): Promise<readonly StaleChunk[]> {
  const chunks: Chunk[] = []
  for (const { start, length } of blocks) {
    const head = await readAt(file, start, Math.min(length, HEAD_BYTES + 4))
    const headBytes = CHUNK_HEADS[head.toString('latin1', 4, HEAD_BYTES)]
    const bodyLength = length - HEAD_BYTES - (headBytes ?? 0)
    if (headBytes === undefined || bodyLength <= 0) continue
    const at = { start: start + HEAD_BYTES, bodyStart: start + HEAD_BYTES + headBytes, end: start + length }
    chunks.push({ id: head.toString('latin1', HEAD_BYTES), list: null, ...at, bodyLength })
  }
  return staleChunks(file, { chunks })
}

/** The fates of the bytes of a block with such a chunk. @param name of the block */
export function foreignEntries({ start }: ByteRange, name: string, fact: StaleChunk): readonly CensusEntry[] {
  const { id, start: chunkStart } = fact.chunk
  return [kept(name, start, chunkStart - start), ...staleEntries(`${name}/${id.trim()}`, fact)]
}
