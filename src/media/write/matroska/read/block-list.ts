/** The flag of a block that can be decoded by itself. */
export const KEYFRAME = 0x80

/** A growing column of numbers. */
class Column<T extends Float64Array | Uint32Array> {
  #values: T
  readonly #make: (length: number) => T

  constructor(make: (length: number) => T) {
    this.#make = make
    this.#values = make(256)
  }

  set(place: number, value: number): void {
    if (place >= this.#values.length) {
      const grown = this.#make(2 * this.#values.length)
      grown.set(this.#values)
      this.#values = grown
    }
    this.#values[place] = value
  }

  get(place: number): number {
    return this.#values[place] as number
  }
}

const floats = () => new Column((length) => new Float64Array(length))
const integers = () => new Column((length) => new Uint32Array(length))

/** A block of a track. Offsets in the file, lengths in bytes. */
export interface Block {
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
}

/** The blocks of a track in file order. Columns, because a film has hundreds of thousands. */
export class BlockList {
  readonly #start = floats()
  readonly #length = integers()
  readonly #tick = floats()
  readonly #cluster = integers()
  readonly #ordinal = integers()
  readonly #lead = integers()
  readonly #dataLength = integers()
  readonly #flags = integers()
  #count = 0
  /** Bodies of the DiscardPadding elements, by place. */
  readonly discardPaddings = new Map<number, Buffer>()
  /** Reason why new blocks cannot replace its blocks; null if they can. */
  unfit: string | null = null

  get count(): number {
    return this.#count
  }

  push(block: Block): void {
    const place = this.#count++
    this.#start.set(place, block.start)
    this.#length.set(place, block.length)
    this.#tick.set(place, block.tick)
    this.#cluster.set(place, block.cluster)
    this.#ordinal.set(place, block.ordinal)
    this.#lead.set(place, block.dataStart - block.start)
    this.#dataLength.set(place, block.dataLength)
    this.#flags.set(place, block.flags)
  }

  start = (place: number): number => this.#start.get(place)
  end = (place: number): number => this.#start.get(place) + this.#length.get(place)
  tick = (place: number): number => this.#tick.get(place)
  cluster = (place: number): number => this.#cluster.get(place)
  ordinal = (place: number): number => this.#ordinal.get(place)
  dataStart = (place: number): number => this.#start.get(place) + this.#lead.get(place)
  dataLength = (place: number): number => this.#dataLength.get(place)
  flags = (place: number): number => this.#flags.get(place)

  /** Place of the first block that starts at an offset or later. */
  firstFrom(offset: number): number {
    let low = 0
    let high = this.#count
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.start(middle) < offset) low = middle + 1
      else high = middle
    }
    return low
  }
}
