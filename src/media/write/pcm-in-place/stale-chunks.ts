import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { readAt } from '../../../core/read-at.js'
import { id3Length } from '../../probe/id3-length.js'
import { BEXT_LOUDNESS_END, hasLoudness, LOUDNESS_AT } from '../../probe/wave-chunks.js'
import { inputPiece, newBytes } from '../byte-plan.js'
import { type CensusEntry, kept, lost, rewritten, SIGNS_OLD_BYTES } from '../census.js'
import { type KeptTag, keepId3 } from '../frames/id3-frames.js'
import type { LevelField } from '../level/level-field.js'
import { inPlace, type Replacement } from '../replacements.js'
import type { Chunk, ChunkFile } from '../structure/chunks.js'
import { loudnessFields, type PcmDonor } from './bext-loudness.js'
import { PEAK_HEAD_BYTES, type PeakList, peakEntries, peakListOf } from './peak-list.js'
import { keepXml } from './stale-xml.js'

/** A chunk with facts about the old samples. */
export type StaleChunk = StaleFact | StaleTag

interface StaleFact {
  readonly chunk: Chunk
  readonly kind: 'loudness' | 'md5' | 'peaks' | 'signature'
  /** Byte order of an `md5` chunk; null if it did not match the old samples. */
  readonly md5Order: 'forward' | 'backward' | null
  /** Form of a list of `peaks` with one for each channel; null for any other list. */
  readonly peakList: PeakList | null
}

/** A chunk whose content loses some parts, such as frames of an ID3 tag; as long as before. */
interface StaleTag {
  readonly chunk: Chunk
  readonly kind: 'tag'
  readonly tag: KeptTag
}

/** Bytes of the fixed fields of a `bext` chunk (EBU Tech 3285, version 2). */
const BEXT_BYTES = 602
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
  // All samples are read for it, so it is computed once, however many chunks state one.
  let md5: Buffer | undefined
  for (const chunk of chunks) {
    const tag = await staleTag(file, chunk)
    if (tag) found.push({ chunk, kind: 'tag', tag })
    const kind = await staleKind(file, chunk)
    if (kind === 'md5') md5 ??= await md5OfSamples(file, chunks)
    const md5Order = kind === 'md5' && md5 ? orderOfMd5(await readAt(file, chunk.bodyStart, 16), md5) : null
    const peakList = kind === 'peaks' ? await peakListIn(file, chunk) : null
    if (kind) found.push({ chunk, kind, md5Order, peakList })
  }
  return found
}

/** Statements of tags about the level of the sound. */
export function chunkLevels(stale: readonly StaleChunk[]): readonly LevelField[] {
  return stale.flatMap((fact) => (fact.kind === 'tag' ? fact.tag.levels : []))
}

/** The fate of a chunk, or of each part of it. @param path its name in the census */
export function staleEntries(path: string, fact: StaleChunk): readonly CensusEntry[] {
  const { start, end } = fact.chunk
  switch (fact.kind) {
    case 'tag':
      return tagEntries(path, fact)
    case 'loudness':
      return [rewritten(path, start, end - start, 'its loudness fields are measured again')]
    case 'md5':
      return fact.md5Order === null
        ? [lost(path, start, end - start, 'it is a checksum that did not fit the old sound')]
        : [rewritten(path, start, end - start, 'the checksum is that of the new sound')]
    case 'peaks':
      return fact.peakList === null
        ? [lost(path, start, end - start, 'it lists the peaks of the old sound')]
        : [rewritten(path, start, end - start, 'the peaks are those of the new sound')]
    case 'signature':
      return [lost(path, start, end - start, SIGNS_OLD_BYTES)]
    default:
      return fact satisfies never
  }
}

function tagEntries(path: string, { chunk, tag: { entries } }: StaleTag): readonly CensusEntry[] {
  const { start, bodyStart, end } = chunk
  const last = entries.reduce((at, entry) => Math.max(at, entry.start + entry.length), bodyStart)
  const rest = last < end ? [kept(path, last, end - last)] : []
  return [kept(path, start, bodyStart - start), ...entries, ...rest]
}

/** The part of a chunk that is true of new samples again, from its first byte in the file; null if there is none. */
export function renewedPart(fact: StaleChunk, donor: PcmDonor | undefined): Replacement | null {
  const { kind, chunk } = fact
  if (kind === 'tag') return inPlace(chunk.bodyStart, fact.tag.pieces)
  if (kind === 'loudness' && donor?.loudness) {
    return inPlace(chunk.bodyStart + LOUDNESS_AT, [newBytes(loudnessFields(donor.loudness))])
  }
  if (fact.kind === 'peaks' && fact.peakList && donor?.peaks) {
    const entries = peakEntries(fact.peakList, donor.peaks)
    return inPlace(chunk.bodyStart + fact.peakList.entriesAt, [newBytes(entries)])
  }
  if (kind !== 'md5' || fact.md5Order === null || !donor?.md5) return null
  const md5 = fact.md5Order === 'forward' ? donor.md5 : Buffer.from(donor.md5).reverse()
  return inPlace(chunk.bodyStart, [newBytes(md5)])
}

/**
 * The new bytes of a chunk in a file whose chunks keep their places. One that is lost becomes an empty one of its length.
 *
 * @param emptyId its new id
 */
export function staleChange(fact: StaleChunk, emptyId: string, donor: PcmDonor | undefined): Replacement {
  const { start, bodyStart, bodyLength } = fact.chunk
  const [id, content] = [Buffer.from(emptyId, 'latin1'), Buffer.alloc(bodyLength)]
  const pieces = [newBytes(id), inputPiece(start + 4, bodyStart), newBytes(content)]
  return renewedPart(fact, donor) ?? inPlace(start, pieces)
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
    case 'bext':
      if (bodyLength < BEXT_BYTES) return null
      return hasLoudness(await readAt(file, bodyStart, BEXT_LOUDNESS_END)) ? 'loudness' : null
    default:
      return null
  }
}

async function peakListIn(file: FileHandle, { id, bodyStart, bodyLength }: Chunk): Promise<PeakList | null> {
  return id === 'PEAK' || id === 'peak'
    ? peakListOf(id, await readAt(file, bodyStart, PEAK_HEAD_BYTES), bodyLength)
    : null
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

/** Checksum of the samples; that of no bytes if the file has none. */
async function md5OfSamples(file: FileHandle, chunks: readonly Chunk[]): Promise<Buffer> {
  const { bodyStart = 0, bodyLength = 0 } = chunks.find(({ id }) => id === 'data') ?? {}
  const hash = createHash('md5')
  for (let done = 0; done < bodyLength; done += BLOCK_BYTES) {
    hash.update(await readAt(file, bodyStart + done, Math.min(BLOCK_BYTES, bodyLength - done)))
  }
  return hash.digest()
}

function orderOfMd5(stated: Buffer, actual: Buffer): StaleFact['md5Order'] {
  if (actual.equals(stated)) return 'forward'
  return Buffer.from(actual).reverse().equals(stated) ? 'backward' : null
}
