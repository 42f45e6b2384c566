import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { readAt } from '../../../core/read-at.js'
import { id3Length } from '../../probe/id3-length.js'
import { type CensusEntry, kept } from '../census.js'
import { type KeptTag, keepId3 } from '../frames/id3-frames.js'
import type { LevelField } from '../level/level-field.js'
import type { Chunk, ChunkFile } from '../structure/chunks.js'
import { NOT_MEASURED } from './bext-loudness.js'
import { keepXml } from './stale-xml.js'

/** A chunk with facts about the old samples. */
export type StaleChunk = StaleFact | StaleTag

interface StaleFact {
  readonly chunk: Chunk
  readonly kind: 'loudness' | 'md5' | 'peaks' | 'signature'
  /** Byte order of an `md5` chunk; null if it did not match the old samples. */
  readonly md5Order: 'forward' | 'backward' | null
}

/** A chunk whose content loses some parts, such as frames of an ID3 tag; as long as before. */
interface StaleTag {
  readonly chunk: Chunk
  readonly kind: 'tag'
  readonly tag: KeptTag
}

/** Places of the version and of the five loudness fields of a `bext` chunk (EBU Tech 3285, version 2). */
const BEXT_VERSION_AT = 346
const BEXT_LOUDNESS_AT = 412
/** Chunks of WAV and AIFF with an ID3 tag. */
const TAGS: ReadonlySet<string> = new Set(['id3 ', 'ID3 '])
/** Chunks with facts in XML. A larger one is kept as it is. */
const XML: ReadonlySet<string> = new Set(['iXML', 'axml'])
const MOST_XML_BYTES = 16 * 1024 ** 2
const BLOCK_BYTES = 4 * 1024 ** 2

/** Finds the chunks of a file with facts about its samples. */
export async function staleChunks(
  file: FileHandle,
  { chunks }: Pick<ChunkFile, 'chunks'>,
): Promise<readonly StaleChunk[]> {
  const found: StaleChunk[] = []
  for (const chunk of chunks) {
    const tag = await staleTag(file, chunk)
    if (tag) found.push({ chunk, kind: 'tag', tag })
    const kind = await staleKind(file, chunk)
    const md5Order = kind === 'md5' ? await orderOfMd5(file, chunk, chunks) : null
    if (kind) found.push({ chunk, kind, md5Order })
  }
  return found
}

/** Statements of tags about the level of the sound. */
export function levelsOf(stale: readonly StaleChunk[]): readonly LevelField[] {
  return stale.flatMap((fact) => (fact.kind === 'tag' ? fact.tag.levels : []))
}

/** Offset of the loudness fields in a file. */
export function loudnessStart({ bodyStart }: Chunk): number {
  return bodyStart + BEXT_LOUDNESS_AT
}

/** The fate of each frame of a chunk with a tag. */
export function tagEntries(
  path: string,
  { start, bodyStart, end }: Chunk,
  { entries }: KeptTag,
): readonly CensusEntry[] {
  const last = entries.reduce((at, entry) => Math.max(at, entry.start + entry.length), bodyStart)
  const rest = last < end ? [kept(path, last, end - last)] : []
  return [kept(path, start, bodyStart - start), ...entries, ...rest]
}

/** A checksum of new samples in the byte order of a chunk; null if the chunk did not match the old ones. */
export function md5For({ md5Order }: StaleFact, { md5 }: { readonly md5: Buffer | null }): Buffer | null {
  if (!md5 || md5Order === null) return null
  return md5Order === 'forward' ? md5 : Buffer.from(md5).reverse()
}

async function staleKind(file: FileHandle, { id, bodyStart, bodyLength }: Chunk): Promise<StaleFact['kind'] | null> {
  switch (id) {
    case 'MD5 ':
      return bodyLength === 16 ? 'md5' : 'peaks'
    case 'PEAK':
    case 'levl':
    case 'peak':
    case 'ovvw':
    case 'LGWV':
      return 'peaks'
    case 'C2PA':
      return 'signature'
    case 'bext': {
      if (bodyLength < 602) return null
      const version = (await readAt(file, bodyStart + BEXT_VERSION_AT, 2)).readUInt16LE(0)
      const fields = await readAt(file, bodyStart + BEXT_LOUDNESS_AT, 10)
      // Zeros and "not measured" state nothing.
      const states = [0, 2, 4, 6, 8].some(
        (at) => fields.readInt16LE(at) !== 0 && fields.readInt16LE(at) !== NOT_MEASURED,
      )
      return version >= 2 && states ? 'loudness' : null
    }
    default:
      return null
  }
}

/** Null for a chunk without a tag, or with one that states nothing about the old samples. */
async function staleTag(file: FileHandle, chunk: Chunk): Promise<KeptTag | null> {
  const tag = await keptTag(file, chunk)
  return tag?.entries.some(({ fate }) => fate !== 'kept') ? tag : null
}

async function keptTag(file: FileHandle, { id, bodyStart, bodyLength }: Chunk): Promise<KeptTag | null> {
  if (XML.has(id)) {
    return bodyLength > MOST_XML_BYTES ? null : keepXml(id, await readAt(file, bodyStart, bodyLength), bodyStart)
  }
  const length = TAGS.has(id) ? id3Length(await readAt(file, bodyStart, 10), 'ID3') : null
  return length === null || length > bodyLength ? null : keepId3(await readAt(file, bodyStart, length), bodyStart)
}

async function orderOfMd5(file: FileHandle, chunk: Chunk, chunks: readonly Chunk[]): Promise<StaleFact['md5Order']> {
  const data = chunks.find(({ id }) => id === 'data')
  if (!data) return null
  const stated = await readAt(file, chunk.bodyStart, 16)
  const hash = createHash('md5')
  for (let done = 0; done < data.bodyLength; done += BLOCK_BYTES) {
    hash.update(await readAt(file, data.bodyStart + done, Math.min(BLOCK_BYTES, data.bodyLength - done)))
  }
  const actual = hash.digest()
  if (actual.equals(stated)) return 'forward'
  return actual.reverse().equals(stated) ? 'backward' : null
}
