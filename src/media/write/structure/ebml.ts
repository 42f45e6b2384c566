import type { FileHandle } from 'node:fs/promises'
import { MAX_STRUCTURES, readAt, type Structure } from './structure.js'

const NAMES: ReadonlyMap<number, string> = new Map([
  [0x1a45dfa3, 'EBML'],
  [0x18538067, 'Segment'],
  [0x114d9b74, 'SeekHead'],
  [0x1549a966, 'Info'],
  [0x1654ae6b, 'Tracks'],
  [0x1f43b675, 'Cluster'],
  [0x1c53bb6b, 'Cues'],
  [0x1941a469, 'Attachments'],
  [0x1043a770, 'Chapters'],
  [0x1254c367, 'Tags'],
  [0xec, 'Void'],
  [0xbf, 'CRC-32'],
])
const SEGMENT = 0x18538067
const CLUSTER = 0x1f43b675
const CRC = 0xbf

/** Structures of a Matroska file, and the checksums of its clusters. */
export interface EbmlFile {
  readonly structures: readonly Structure[]
  /** Offsets of the CRC-32 elements at the beginning of clusters. */
  readonly clusterChecksums: readonly number[]
}

/** Lists the elements of a Matroska file; undefined for unknown sizes, which only live recordings have. */
export async function ebmlElements(file: FileHandle, sizeBytes: number): Promise<EbmlFile | undefined> {
  const structures: Structure[] = []
  const clusterChecksums: number[] = []
  const ends: number[] = []
  for (let at = 0; at < sizeBytes; ) {
    const element = elementOf(await readAt(file, at, 12))
    if (!element || structures.length > MAX_STRUCTURES) return undefined
    const end = at + element.head + element.body
    const name = NAMES.get(element.id) ?? `0x${element.id.toString(16)}`
    const inside = ends.length > 0 && at < (ends[0] ?? 0)
    if (end > (inside ? (ends[0] as number) : sizeBytes)) return undefined
    if (element.id === SEGMENT && !inside) {
      structures.push({ path: name, start: at, length: element.head })
      ends[0] = end
      at += element.head
      continue
    }
    if (element.id === CLUSTER) {
      const first = elementOf(await readAt(file, at + element.head, 12))
      if (first?.id === CRC && first.body === 4) clusterChecksums.push(at + element.head)
    }
    structures.push({ path: inside ? `Segment/${name}` : name, start: at, length: element.head + element.body })
    at = end
  }
  return { structures, clusterChecksums }
}

/** Id, length of the head and of the body; undefined if it is not an element or its size is unknown. */
function elementOf(bytes: Buffer): { readonly id: number; readonly head: number; readonly body: number } | undefined {
  const idLength = vintLength(bytes[0])
  const sizeLength = vintLength(bytes[idLength])
  if (idLength === 0 || idLength > 4 || sizeLength === 0 || idLength + sizeLength > bytes.length) return undefined
  let body = BigInt((bytes[idLength] ?? 0) & (0xff >> sizeLength))
  for (let place = 1; place < sizeLength; place++) body = (body << 8n) | BigInt(bytes[idLength + place] ?? 0)
  if (body === (1n << BigInt(7 * sizeLength)) - 1n) return undefined
  return { id: bytes.readUIntBE(0, idLength), head: idLength + sizeLength, body: Number(body) }
}

function vintLength(first: number | undefined): number {
  return first === undefined || first === 0 ? 0 : Math.clz32(first) - 23
}
