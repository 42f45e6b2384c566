import { type FileHandle, open } from 'node:fs/promises'
import { MalformedFile } from '../../../probe/malformed-file.js'
import type { Head } from '../../../probe/matroska/ebml.js'
import { ID, isKnownId } from '../../../probe/matroska/ids.js'
import { matroskaSegment } from '../../../probe/matroska/matroska-clock.js'
import { FileWindow } from '../../file-window.js'
import type { BlockList } from './block-list.js'
import { type Cluster, ClusterReader } from './cluster.js'
import { type Element, ElementCount, headIn, parseElements, uintIn } from './element.js'
import { ID_BYTES, nextTopElement } from './next-top-element.js'
import { readTracks, type TrackEntry } from './track-entry.js'

/** A child of the segment. Offsets in the file. */
export type TopLevelElement =
  | { readonly kind: 'cluster'; readonly start: number; readonly end: number; readonly cluster: number }
  | {
      readonly kind: 'element'
      readonly id: number
      readonly start: number
      readonly end: number
      /** Null for an element that voxmux does not read, as attachments. */
      readonly element: Element | null
    }

/** A parsed Matroska or WebM file: one segment. */
export interface MatroskaFile {
  readonly sizeBytes: number
  /** Nanoseconds in a tick. */
  readonly tickNs: number
  readonly segment: { readonly start: number; readonly head: Head; readonly dataStart: number; readonly end: number }
  /** Everything in the segment, in file order. */
  readonly parts: readonly TopLevelElement[]
  readonly clusters: readonly Cluster[]
  readonly tracks: readonly TrackEntry[]
  /** By track number; of the audio tracks. */
  readonly blocks: ReadonlyMap<number, BlockList>
  /** True if the file may have blocks without a group, which version 1 of the format does not know. */
  readonly mayUseSimpleBlocks: boolean
}

/** Elements that are read into memory; all others stay on disk. */
const READ: ReadonlySet<number> = new Set([ID.SeekHead, ID.Info, ID.Tracks, ID.Cues, ID.Tags])
/** 100 hours of film have cues of about 20 MB. */
const MAX_ELEMENT_BYTES = 64 * 1024 ** 2
/** Bytes behind the segment that are looked through for another cluster. */
const MAX_REST_BYTES = 1024 ** 2
const DEFAULT_TICK_NS = 1_000_000

/** Reads the structure of a file. @throws MalformedFile if voxmux could not write its form */
export async function readMatroska(path: string, sizeBytes: number): Promise<MatroskaFile> {
  await using file = await open(path, 'r')
  return await new SegmentReader(file, sizeBytes).read()
}

class SegmentReader {
  readonly #file: FileHandle
  readonly #window: FileWindow
  readonly #clusters: ClusterReader
  readonly #parts: TopLevelElement[] = []
  readonly #count = new ElementCount()
  #tracks: readonly TrackEntry[] | null = null

  constructor(file: FileHandle, sizeBytes: number) {
    this.#file = file
    this.#window = new FileWindow(file, sizeBytes)
    this.#clusters = new ClusterReader(this.#window, this.#count)
  }

  async read(): Promise<MatroskaFile> {
    const { sizeBytes } = this.#window
    const segment = await matroskaSegment(this.#file)
    if (!segment) throw new MalformedFile('no segment follows its head')
    const { start, head } = segment
    const [ebml] = await this.#elementsAt(0, start)
    const dataStart = start + head.headBytes
    if (head.length !== null && dataStart + head.length > sizeBytes) throw new MalformedFile('it is truncated')
    const stop = head.length === null ? sizeBytes : dataStart + head.length
    const end = await this.#readParts(dataStart, stop, head.length === null)
    await this.#refuseMore(end, sizeBytes)
    if (!this.#tracks) throw new MalformedFile('it lists no tracks')
    const [info] = elementsIn({ parts: this.#parts }, ID.Info)
    const tickNs = uintIn(info, ID.TimestampScale)
    return {
      ...{ sizeBytes, tickNs: tickNs ?? DEFAULT_TICK_NS, segment: { start, head, dataStart, end } },
      ...{ parts: this.#parts, clusters: this.#clusters.clusters, tracks: this.#tracks, blocks: this.#clusters.blocks },
      mayUseSimpleBlocks: this.#clusters.hasSimpleBlocks || (uintIn(ebml, ID.DocTypeVersion) ?? 1) > 1,
    }
  }

  /** Reads the children of the segment; returns the end of the last one. */
  async #readParts(from: number, stop: number, isOpen: boolean): Promise<number> {
    for (let at = from; at < stop; ) {
      const head = await this.#headAt(at)
      this.#count.take(at)
      if (!head || !(await this.#isElement(head, at, stop))) {
        const next = await nextTopElement(this.#window, at + 1, stop)
        // A live recording ends anywhere, and other bytes may follow.
        if (isOpen && next === stop) return at
        this.#parts.push({ kind: 'element', id: 0, start: at, end: next, element: null })
        at = next
        continue
      }
      if (head.id === ID.EBML || head.id === ID.Segment) throw new MalformedFile('it has several segments')
      at = head.id === ID.Cluster ? await this.#readCluster(at, head, stop) : await this.#readElement(at, head, stop)
    }
    return stop
  }

  async #isElement(head: Head, at: number, stop: number): Promise<boolean> {
    if (head.id === ID.Cluster) return true
    const end = head.length === null ? Number.POSITIVE_INFINITY : at + head.headBytes + head.length
    if (end > stop || isKnownId(head.id)) return end <= stop
    // Damaged bytes can look like the head of any element, and as one that ends inside the id of the next.
    return (await nextTopElement(this.#window, at + 1, Math.min(end + ID_BYTES - 1, stop))) >= end
  }

  async #readCluster(start: number, head: Head, stop: number): Promise<number> {
    const cluster = this.#clusters.clusters.length
    const end = await this.#clusters.read(start, head, stop)
    this.#parts.push({ kind: 'cluster', start, end, cluster })
    return end
  }

  async #readElement(start: number, { id, headBytes, length }: Head, stop: number): Promise<number> {
    const end = length === null ? stop : start + headBytes + length
    const [element = null] = READ.has(id) ? await this.#elementsAt(start, end) : []
    if (id === ID.Tracks && element) {
      const [first] = elementsIn({ parts: this.#parts }, ID.Tracks)
      if (first) return this.#repeatTracks(element, first)
      this.#tracks = readTracks(element)
      this.#clusters.collected = new Set(this.#tracks.flatMap(({ isAudio, number }) => (isAudio ? number : [])))
    }
    this.#parts.push({ kind: 'element', id, start, end, element })
    return end
  }

  /** A recorder may repeat its list for readers that begin in the middle. */
  #repeatTracks(element: Element, first: Element): number {
    if (!element.bytes.equals(first.bytes)) throw new MalformedFile('it lists its tracks twice')
    const end = element.start + element.bytes.length
    this.#parts.push({ kind: 'element', id: ID.Tracks, start: element.start, end, element: first })
    return end
  }

  /** A player may go on reading behind the segment. */
  async #refuseMore(end: number, sizeBytes: number): Promise<void> {
    const rest = Buffer.alloc(Math.min(MAX_REST_BYTES + 1, sizeBytes - end))
    const { bytesRead } = rest.length > 0 ? await this.#file.read(rest, 0, rest.length, end) : { bytesRead: 0 }
    const hasMore = [ID.Cluster, ID.Segment].some((id) => rest.includes(Buffer.from(id.toString(16), 'hex')))
    if (hasMore || bytesRead > MAX_REST_BYTES) throw new MalformedFile(`unknown bytes follow at byte ${end}`)
  }

  async #headAt(at: number): Promise<Head | undefined> {
    await this.#window.bring(at)
    return headIn(this.#window, at)
  }

  async #elementsAt(start: number, end: number): Promise<readonly Element[]> {
    if (end - start > MAX_ELEMENT_BYTES) throw new MalformedFile(`the element at byte ${start} is very long`)
    const bytes = Buffer.alloc(end - start)
    const { bytesRead } = await this.#file.read(bytes, 0, bytes.length, start)
    if (bytesRead < bytes.length) throw new MalformedFile(`the file ends inside the element at byte ${start}`)
    return parseElements(bytes, start, this.#count)
  }
}

/** The children of the segment with an id that voxmux read. */
export function elementsIn({ parts }: Pick<MatroskaFile, 'parts'>, id: number): readonly Element[] {
  return parts.flatMap((part) => (part.kind === 'element' && part.id === id ? (part.element ?? []) : []))
}

/** True if the segment has a checksum of its own. */
export function hasChecksum({ parts }: MatroskaFile): boolean {
  return parts.some((part) => part.kind === 'element' && part.id === ID.Crc32)
}
