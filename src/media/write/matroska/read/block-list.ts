import { Column } from '../../column.js'

/** The flag of a block that can be decoded by itself. */
export const KEYFRAME = 0x80
/** The flags of a block that holds several frames. */
export const LACING = 0x06

/** A block of a track. Offsets in the file, lengths in bytes. */
interface Block {
  /** First byte of the SimpleBlock or BlockGroup. */
  readonly start: number
  readonly length: number
  /** In ticks of the segment. */
  readonly tick: number
  /** Place among the clusters. */
  readonly cluster: number
  /** Place among the blocks of its cluster, from 1. */
  readonly ordinal: number
  /** The frame, or the laced frames with their sizes. */
  readonly dataStart: number
  readonly dataLength: number
  readonly flags: number
  /** Several if it is laced; 1 by default. */
  readonly frames?: number
}

/** The blocks of a track in file order. Columns, because a film has hundreds of thousands. */
export class BlockList {
  readonly #start = Column.floats()
  readonly #length = Column.integers()
  readonly #tick = Column.floats()
  readonly #cluster = Column.integers()
  readonly #ordinal = Column.integers()
  readonly #lead = Column.integers()
  readonly #dataLength = Column.integers()
  readonly #flags = Column.integers()
  /** Bodies of the DiscardPadding elements, by place. */
  readonly discardPaddings = new Map<number, Buffer>()
  /** Reason why new blocks cannot replace its blocks; null if they can. */
  unfit: string | null = null
  /** In all blocks. */
  frameCount = 0

  get count(): number {
    return this.#start.count
  }

  push(block: Block): void {
    this.#start.push(block.start)
    this.#length.push(block.length)
    this.#tick.push(block.tick)
    this.#cluster.push(block.cluster)
    this.#ordinal.push(block.ordinal)
    this.#lead.push(block.dataStart - block.start)
    this.#dataLength.push(block.dataLength)
    this.#flags.push(block.flags)
    this.frameCount += block.frames ?? 1
  }

  start = (place: number): number => this.#start.get(place)
  end = (place: number): number => this.#start.get(place) + this.#length.get(place)
  tick = (place: number): number => this.#tick.get(place)
  cluster = (place: number): number => this.#cluster.get(place)
  ordinal = (place: number): number => this.#ordinal.get(place)
  dataStart = (place: number): number => this.#start.get(place) + this.#lead.get(place)
  dataLength = (place: number): number => this.#dataLength.get(place)
  flags = (place: number): number => this.#flags.get(place)
}
