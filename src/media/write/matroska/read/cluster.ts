import { MalformedFile } from '../../../probe/malformed-file.js'
import { type Head, readUint, readVint } from '../../../probe/matroska/ebml.js'
import { ENDS_CLUSTER, ID } from '../../../probe/matroska/ids.js'
import type { FileWindow } from '../../file-window.js'
import { BlockList, KEYFRAME, LACING } from './block-list.js'
import { type ElementCount, headIn } from './element.js'
import { nextTopElement } from './next-top-element.js'

/** An unsigned integer that states a place or a size. */
export interface StatedNumber {
  /** First byte of the element. */
  readonly start: number
  readonly length: number
  readonly bodyBytes: number
  readonly value: number
}

/** A cluster. Offsets in the file. */
export interface Cluster {
  readonly start: number
  readonly headBytes: number
  readonly sizeWidth: number
  /** Body length by its head; null if unknown. */
  readonly statedLength: number | null
  readonly dataStart: number
  readonly end: number
  /** In ticks of the segment. */
  readonly tick: number
  /** Bytes of the CRC-32 element at its beginning; 0 without one. */
  readonly checksumBytes: number
  readonly position: StatedNumber | null
  readonly previousSize: StatedNumber | null
  /** First byte of the first block; its end if it has none. */
  readonly firstBlockStart: number
  /** Elements other than blocks, by name. */
  readonly others: readonly { readonly id: number; readonly start: number; readonly length: number }[]
  /** Numbers of tracks that it declares silent. */
  readonly silentTracks: readonly number[]
}

/** Says that the bytes of an element fit none. ffmpeg passes over the rest of its cluster, too. */
const DAMAGED = 'damaged'
type Reading = typeof DAMAGED | 'fits'

/** The reader of clusters: collects their blocks by track. */
export class ClusterReader {
  readonly #window: FileWindow
  readonly #count: ElementCount
  /** By track number. */
  readonly blocks = new Map<number, BlockList>()
  readonly clusters: Cluster[] = []
  hasSimpleBlocks = false
  /** Numbers of the tracks whose blocks are collected; null for all, if the clusters precede the list of tracks. */
  collected: ReadonlySet<number> | null = null

  /** @param count of the elements that are kept as objects: all but blocks */
  constructor(window: FileWindow, count: ElementCount) {
    this.#window = window
    this.#count = count
  }

  /** Reads a cluster with all heads in it. @param limit end of the segment @returns its end @throws MalformedFile */
  async read(start: number, head: Head, limit: number): Promise<number> {
    const dataStart = start + head.headBytes
    const statedEnd = head.length === null ? limit : dataStart + head.length
    // A recording that was stopped by force ends inside its last cluster.
    const stop = Math.min(statedEnd, limit)
    const draft = new ClusterDraft()
    let at = dataStart
    while (at < stop) {
      const pending = this.#window.bring(at)
      if (pending) await pending
      const child = headIn(this.#window, at)
      if (child && head.length === null && ENDS_CLUSTER.has(child.id)) break
      const end = child && child.length !== null ? at + child.headBytes + child.length : Number.POSITIVE_INFINITY
      const reading = child && end <= stop ? this.#readChild(draft, child, at, end) : DAMAGED
      if (reading && (await reading) === DAMAGED) {
        const next = await nextTopElement(this.#window, at + 1, stop)
        if (next < stop && head.length !== null) throw new MalformedFile(`no element of a cluster fits at byte ${at}`)
        draft.others.push({ id: 0, start: at, length: next - at })
        at = next
        break
      }
      draft.isEmpty = false
      at = end
    }
    if (draft.tick === null && draft.ordinal > 0) throw new MalformedFile(`the cluster at byte ${start} has no time`)
    this.clusters.push({
      ...{ start, headBytes: head.headBytes, sizeWidth: head.sizeWidth, statedLength: head.length, dataStart, end: at },
      ...{ tick: draft.tick ?? 0, checksumBytes: draft.checksumBytes, firstBlockStart: draft.firstBlockStart ?? at },
      ...{ position: draft.position, previousSize: draft.previousSize, others: draft.others },
      silentTracks: draft.silentTracks,
    })
    return at
  }

  #readChild(draft: ClusterDraft, child: Head, at: number, end: number): Promise<Reading> | undefined {
    const bodyAt = at + child.headBytes
    switch (child.id) {
      case ID.Timestamp:
        draft.tick = readUint(this.#window.peek(bodyAt, end - bodyAt))
        return undefined
      case ID.SimpleBlock:
        this.hasSimpleBlocks = true
        // Its head is in the scanned bytes.
        this.#takeBlock(draft, { at: bodyAt, end }, { start: at, length: end - at })
        return undefined
      case ID.BlockGroup:
        return this.#readGroup(draft, at, bodyAt, end)
      default:
        return this.#readOther(draft, child, at, end)
    }
  }

  async #readOther(draft: ClusterDraft, child: Head, at: number, end: number): Promise<Reading> {
    const bodyAt = at + child.headBytes
    const number = () => {
      const value = readUint(this.#window.peek(bodyAt, end - bodyAt))
      return { start: at, length: end - at, bodyBytes: end - bodyAt, value }
    }
    if (child.id === ID.Position) draft.position = number()
    else if (child.id === ID.PrevSize) draft.previousSize = number()
    else if (child.id === ID.Crc32 && child.length === 4 && draft.isEmpty) draft.checksumBytes = end - at
    else {
      this.#count.take(at)
      draft.others.push({ id: child.id, start: at, length: end - at })
    }
    if (child.id === ID.EncryptedBlock) draft.takeOrdinal(at)
    if (child.id === ID.SilentTracks) {
      for (let inside = bodyAt; inside < end; ) {
        await this.#window.bring(inside)
        const head = headIn(this.#window, inside)
        this.#count.take(inside)
        if (!head || head.length === null) throw new MalformedFile(`no silent track fits at byte ${inside}`)
        draft.silentTracks.push(readUint(this.#window.peek(inside + head.headBytes, head.length)))
        inside += head.headBytes + head.length
      }
    }
    return 'fits'
  }

  async #readGroup(draft: ClusterDraft, start: number, bodyAt: number, end: number): Promise<Reading> {
    let list: BlockList | null = null
    const found = new Map<number, { readonly start: number; readonly length: number }>()
    for (let at = bodyAt; at < end; ) {
      const pending = this.#window.bring(at)
      if (pending) await pending
      const child = headIn(this.#window, at)
      if (!child || child.length === null || at + child.headBytes + child.length > end) {
        if (list) throw new MalformedFile(`no element of a block fits at byte ${at}`)
        return DAMAGED
      }
      const childEnd = at + child.headBytes + child.length
      if (child.id === ID.Block) {
        const body = { at: at + child.headBytes, end: childEnd }
        // No sound refers to another block, and only a block outside a group says so by itself.
        list = this.#takeBlock(draft, body, { start, length: end - start, flags: KEYFRAME })
        if (!list) return 'fits'
      } else found.set(child.id, { start: at + child.headBytes, length: child.length })
      at = childEnd
    }
    if (!list) {
      draft.takeOrdinal(start)
      return 'fits'
    }
    if (found.has(ID.BlockAdditions)) list.unfit = 'its blocks have additions'
    if (found.has(ID.CodecState)) list.unfit = 'its codec settings change in the middle'
    const padding = found.get(ID.DiscardPadding)
    if (!padding) return 'fits'
    await this.#window.bring(padding.start)
    list.discardPaddings.set(list.count - 1, Buffer.from(this.#window.peek(padding.start, padding.length)))
    return 'fits'
  }

  /** Null for a block of a track that is not collected. */
  #takeBlock(
    draft: ClusterDraft,
    body: { readonly at: number; readonly end: number },
    whole: { readonly start: number; readonly length: number; readonly flags?: number },
  ): BlockList | null {
    const { window } = this.#window
    const place = this.#window.placeOf(body.at)
    const track = readVint(window, place)
    if (!track || body.end - body.at < track.width + 3) throw new MalformedFile(`the block at ${body.at} is empty`)
    if (draft.tick === null) throw new MalformedFile(`the block at byte ${body.at} has no time`)
    const ordinal = draft.takeOrdinal(whole.start)
    if (this.collected && !this.collected.has(track.value)) return null
    const list = this.blocks.get(track.value) ?? new BlockList()
    this.blocks.set(track.value, list)
    const dataStart = body.at + track.width + 3
    const flags = window[place + track.width + 2] as number
    list.push({
      start: whole.start,
      length: whole.length,
      tick: draft.tick + window.readInt16BE(place + track.width),
      cluster: this.clusters.length,
      ordinal,
      dataStart,
      dataLength: body.end - dataStart,
      flags: flags | (whole.flags ?? 0),
      frames: (flags & LACING) === 0 ? 1 : (window[place + track.width + 3] as number) + 1,
    })
    return list
  }
}

class ClusterDraft {
  tick: number | null = null
  isEmpty = true
  checksumBytes = 0
  position: StatedNumber | null = null
  previousSize: StatedNumber | null = null
  firstBlockStart: number | null = null
  ordinal = 0
  readonly others: { id: number; start: number; length: number }[] = []
  readonly silentTracks: number[] = []

  takeOrdinal(start: number): number {
    this.firstBlockStart ??= start
    this.ordinal += 1
    return this.ordinal
  }
}
