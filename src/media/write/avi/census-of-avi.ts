import { type CensusEntry, kept, lost, rewritten, SIGNS_OLD_BYTES, withGaps } from '../census.js'
import type { HeaderPart } from '../structure/avi-headers.js'
import type { Chunk } from '../structure/chunks.js'
import { type AviFile, type AviPart, PART_HEAD_BYTES } from './avi-file.js'

/** Reasons why parts of a file change. */
const NEW = {
  size: 'size of its chunks',
  header: 'clock and length of the new sound',
  format: 'coding of the new sound',
  data: 'new packets of the sound; every other byte stays',
  indexedData: 'new packets of the sound, and their places and sizes in its indices; every other byte stays',
  index: 'places and sizes of the new packets',
} as const

/** Lists the fate of every chunk of an AVI. @param numbers of the streams with new sound @param signatures lost chunks */
export function censusOfAvi(
  avi: AviFile,
  numbers: readonly number[],
  signatures: ReadonlySet<Chunk>,
): readonly CensusEntry[] {
  const changed = numbers.flatMap((number) => avi.streams[number] ?? [])
  const reasons = new Map<number, string>([
    ...changed.flatMap(({ header, format }) => [
      [header.start, NEW.header] as const,
      [format.start, NEW.format] as const,
    ]),
    ...avi.indices.map(({ start }) => [start, NEW.index] as const),
  ])
  const end = avi.parts.at(-1)?.end ?? 0
  const rest = avi.sizeBytes - end
  const trailing = rest > 0 ? [kept('trailing bytes', end, rest)] : []
  return [...avi.parts.flatMap((part) => partOfFile(avi, part, { reasons, signatures })), ...trailing]
}

function partOfFile(
  { headers, data }: AviFile,
  { name, start, end, chunks, movi, index }: AviPart,
  { reasons, signatures }: { readonly reasons: ReadonlyMap<number, string>; readonly signatures: ReadonlySet<Chunk> },
): readonly CensusEntry[] {
  const entryOf = (chunk: Chunk): readonly CensusEntry[] => {
    const [path, length] = [`${name}/${chunk.id.trim()}`, chunk.end - chunk.start]
    if (chunk.start === headers.start) return partEntries(headers, `${name}/hdrl`, reasons)
    if (chunk === movi) {
      const isIndexed = data.indices.some((own) => own.start > movi.start && own.start < movi.end)
      return [rewritten(`${name}/movi`, chunk.start, length, isIndexed ? NEW.indexedData : NEW.data)]
    }
    if (chunk === index?.chunk) return [rewritten(path, chunk.start, length, NEW.index)]
    if (signatures.has(chunk)) return [lost(path, chunk.start, length, SIGNS_OLD_BYTES)]
    return [kept(chunk.list ? `${path} ${chunk.list}` : path, chunk.start, length)]
  }
  const inside = [start + PART_HEAD_BYTES, end] as const
  const rest = (at: number, length: number) => kept(`${name}/rest`, at, length)
  return [rewritten(name, start, PART_HEAD_BYTES, NEW.size), ...withGaps(chunks.flatMap(entryOf), inside, rest)]
}

function partEntries(part: HeaderPart, path: string, reasons: ReadonlyMap<number, string>): readonly CensusEntry[] {
  const { start, bodyStart, end, children } = part
  const reason = reasons.get(start)
  if (reason !== undefined) return [rewritten(path, start, end - start, reason)]
  if (!children) return [kept(path, start, end - start)]
  const inside = children.flatMap((child) => partEntries(child, `${path}/${child.id.trim()}`, reasons))
  const last = children.at(-1)?.end ?? bodyStart
  return [
    rewritten(path, start, bodyStart - start, NEW.size),
    ...inside,
    ...(last < end ? [kept(`${path}/rest`, last, end - last)] : []),
  ]
}
