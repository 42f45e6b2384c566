import type { AviFile } from './avi-file.js'
import { type ChangedStream, liesIn } from './avi-index.js'
import { type SoundChunks, soundId } from './movie-data.js'
import { type ChunkEntry, chunkEntries, indexEntries, type OpenDmlIndex } from './open-dml-index.js'

/** Offsets in an index have 32 bits. Smaller files have room for the new sound. */
const SMALL_BYTES = 0x7000_0000

/** The reason why voxmux cannot rewrite the indices of OpenDML; undefined if it can. */
export function unfitOpenDml(avi: AviFile, changed: readonly ChangedStream[]): string | undefined {
  const chunkIndices = avi.indices.filter(({ kind }) => kind === 'chunks')
  const heads = new Set(chunkIndices.map(({ start }) => start))
  const walks = new Map(changed.map((stream) => [soundId(stream.number), new Walk(stream.chunks)]))
  for (const index of avi.indices) {
    const unfit = `its index at byte ${index.start} does not fit its packets`
    if (index.kind === 'indices') {
      for (const { start } of indexEntries(index)) if (!heads.has(start)) return unfit
      continue
    }
    const walk = walks.get(index.id)
    for (const entry of chunkEntries(index)) {
      const isFit = walk ? walk.isNext(entry) : !changed.some(({ chunks }) => liesIn(chunks, entry.start))
      if (!isFit || !reaches(avi, index, entry)) return unfit
    }
  }
  const listed = new Set(chunkIndices.map(({ id }) => id))
  const isPartial = [...walks].some(([id, walk]) => listed.has(id) && !walk.isDone)
  return isPartial ? 'its indices do not list all packets of the track' : undefined
}

/** The chunks of a stream, which its indices list in order. */
class Walk {
  readonly #chunks: SoundChunks
  #place = 0

  constructor(chunks: SoundChunks) {
    this.#chunks = chunks
  }

  get isDone(): boolean {
    return this.#place === this.#chunks.count
  }

  isNext({ start, bytes }: ChunkEntry): boolean {
    const place = this.#place++
    return place < this.#chunks.count && this.#chunks.start(place) === start && this.#chunks.bytes(place) === bytes
  }
}

/** True if an entry leads to media, and its new offset has 32 bits for sure. */
function reaches({ parts, sizeBytes }: AviFile, { base }: OpenDmlIndex, { start }: ChunkEntry): boolean {
  const part = parts.find(({ movi }) => start > movi.start && start < movi.end)
  if (!part) return false
  return (base >= part.start && base < part.end) || (base < start && sizeBytes <= SMALL_BYTES)
}
