import type { FileHandle } from 'node:fs/promises'
import type { MediaInfo } from '../../media-info.js'
import { isMatroska, isMovie } from '../../probe/container-kind.js'
import { MalformedFile } from '../../probe/malformed-file.js'
import { nameOfId } from '../../probe/matroska/ids.js'
import { readMatroska } from '../matroska/read/matroska-file.js'
import { auParts } from './au-parts.js'
import { type ChunkFile, chunkFile, chunkStructures } from './chunks.js'
import { isoBoxes } from './iso-boxes.js'
import { klvs } from './klv.js'
import type { Structure } from './structure.js'

/** A CRC-32 of four bytes, and the bytes behind it that it covers. */
export interface Checksum {
  readonly start: number
  readonly covers: number
}

/** The structures of a file, and what its family knows besides. */
interface Outline {
  readonly structures: Iterable<Structure>
  readonly chunks: ChunkFile | null
  readonly checksums: readonly Checksum[]
}

/** Lists the structures of a file; null for a container of another family, and for a file that has none. */
export async function outlineOf(file: FileHandle, media: MediaInfo): Promise<Outline | null> {
  const plain = (structures: Iterable<Structure> | undefined) =>
    structures ? { structures, chunks: null, checksums: [] } : null
  if (isMovie(media)) return plain(await isoBoxes(file, media.sizeBytes))
  if (isMatroska(media)) return matroskaOutline(media)
  switch (media.container) {
    case 'mxf':
      return plain(await klvs(file, media.sizeBytes))
    case 'au':
      return plain(await auParts(file, media.sizeBytes))
    case 'avi':
    case 'wav':
    case 'w64':
    case 'aiff':
    case 'caf': {
      const chunks = await chunkFile(file, media.sizeBytes)
      return chunks ? { structures: chunkStructures(chunks), chunks, checksums: [] } : null
    }
    default:
      return null
  }
}

async function matroskaOutline({ path, sizeBytes }: MediaInfo): Promise<Outline | null> {
  try {
    const { segment, parts, clusters } = await readMatroska(path, sizeBytes)
    const structures = [
      { path: 'EBML', start: 0, length: segment.start },
      { path: 'Segment', start: segment.start, length: segment.head.headBytes },
      ...parts.map((part) => {
        const name = part.kind === 'cluster' ? 'Cluster' : nameOfId(part.id)
        return { path: `Segment/${name}`, start: part.start, length: part.end - part.start }
      }),
      { path: 'bytes after the segment', start: segment.end, length: sizeBytes - segment.end },
    ]
    const checksums = clusters.flatMap(({ dataStart, checksumBytes, end }) => {
      const start = dataStart + checksumBytes
      return checksumBytes > 0 ? [{ start: start - 4, covers: end - start }] : []
    })
    return { structures: structures.filter(({ length }) => length > 0), chunks: null, checksums }
  } catch (error) {
    if (error instanceof MalformedFile) return null
    throw error
  }
}
