import { type CensusEntry, kept, lost, rewritten, SIGNS_OLD_BYTES } from '../census.js'
import type { HeaderPart } from '../structure/avi-headers.js'
import type { Chunk } from '../structure/chunks.js'
import type { AviFile } from './avi-file.js'

/** Reasons why parts of a file change. */
const NEW = {
  size: 'size of its chunks',
  header: 'clock and length of the new sound',
  format: 'coding of the new sound',
  data: 'new packets of the sound; every other byte stays',
  index: 'places and sizes of the new packets',
} as const

/** Lists the fate of every chunk of an AVI. @param numbers of the streams with new sound @param signatures lost chunks */
export function censusOfAvi(
  avi: AviFile,
  numbers: readonly number[],
  signatures: ReadonlySet<Chunk>,
): readonly CensusEntry[] {
  const { file, headers, movi, index } = avi
  const changed = numbers.flatMap((number) => avi.streams[number] ?? [])
  const reasons = new Map<HeaderPart, string>(
    changed.flatMap(({ header, format }) => [[header, NEW.header] as const, [format, NEW.format] as const]),
  )
  const entries = file.chunks.flatMap((chunk): readonly CensusEntry[] => {
    const [path, length] = [`${file.name}/${chunk.id.trim()}`, chunk.end - chunk.start]
    if (chunk.start === headers.start) return partEntries(headers, `${file.name}/hdrl`, reasons)
    if (chunk === movi) return [rewritten(`${file.name}/movi`, chunk.start, length, NEW.data)]
    if (chunk === index?.chunk) return [rewritten(path, chunk.start, length, NEW.index)]
    if (signatures.has(chunk)) return [lost(path, chunk.start, length, SIGNS_OLD_BYTES)]
    return [kept(chunk.list ? `${path} ${chunk.list}` : path, chunk.start, length)]
  })
  const rest = file.sizeBytes - file.end
  const trailing = rest > 0 ? [kept('trailing bytes', file.end, rest)] : []
  return [rewritten(file.name, 0, file.headLength, NEW.size), ...entries, ...trailing]
}

function partEntries(part: HeaderPart, path: string, reasons: ReadonlyMap<HeaderPart, string>): readonly CensusEntry[] {
  const { start, bodyStart, end, children } = part
  const reason = reasons.get(part)
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
