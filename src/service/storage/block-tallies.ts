import { StorageFault } from './storage-answers.js'

/** Azure's limit of a block list. */
export const MOST_BLOCKS = 50_000
/** Blocks that a process keeps before it counts again: other processes may keep some of the same upload. */
const BLOCKS_PER_COUNT = 256
/** Uploads whose blocks a process remembers the number of. */
const MOST_TALLIES = 1000

/** Number and total size of the blocks of an upload. */
export interface BlockSum {
  readonly blocks: number
  readonly bytes: number
}

/** All blocks at the last count, and those that this process kept since. */
interface Tally {
  blocks: number
  bytes: number
  keptSince: number
}

/** A block that arrives, and the one that it replaces. */
interface ArrivingBlock {
  readonly sizeBytes: number
  /** Undefined for a new block. */
  readonly replacedBytes: number | undefined
}

/** Holds the blocks of each upload to their limits. Counts them on disk only now and then: there may be very many. */
export class BlockTallies {
  readonly #countOnDisk: (folder: string) => Promise<BlockSum>
  /** By folder. */
  readonly #tallies = new Map<string, Tally>()
  /** Bytes of blocks that are arriving, by folder. */
  readonly #incoming = new Map<string, number>()

  constructor(countOnDisk: (folder: string) => Promise<BlockSum>) {
    this.#countOnDisk = countOnDisk
  }

  /**
   * Runs `receive` for a block if the upload has room for it, and counts the block.
   *
   * @throws {StorageFault} `RequestBodyTooLarge`, `BlockCountExceedsLimit`
   */
  async receive(folder: string, block: ArrivingBlock, maxBytes: number, receive: () => Promise<void>): Promise<void> {
    let tally = await this.#tallyOf(folder)
    // Another process may have removed blocks since the last count.
    if (this.#refusal(folder, tally, block, maxBytes)) tally = await this.#counted(folder)
    const refusal = this.#refusal(folder, tally, block, maxBytes)
    if (refusal) throw new StorageFault(refusal)
    this.#incoming.set(folder, this.#incomingOf(folder) + block.sizeBytes)
    try {
      await receive()
      this.#add(folder, block)
    } finally {
      const left = this.#incomingOf(folder) - block.sizeBytes
      if (left > 0) this.#incoming.set(folder, left)
      else this.#incoming.delete(folder)
    }
  }

  forget(folder: string): void {
    this.#tallies.delete(folder)
  }

  #refusal(folder: string, tally: Tally, { sizeBytes, replacedBytes }: ArrivingBlock, maxBytes: number) {
    const others = tally.bytes - (replacedBytes ?? 0) + this.#incomingOf(folder)
    if (others + sizeBytes > maxBytes) return 'RequestBodyTooLarge'
    return replacedBytes === undefined && tally.blocks >= MOST_BLOCKS ? 'BlockCountExceedsLimit' : undefined
  }

  async #tallyOf(folder: string): Promise<Tally> {
    const known = this.#tallies.get(folder)
    return known && known.keptSince < BLOCKS_PER_COUNT ? known : this.#counted(folder)
  }

  async #counted(folder: string): Promise<Tally> {
    const tally = { ...(await this.#countOnDisk(folder)), keptSince: 0 }
    const [oldest] = this.#tallies.keys()
    if (oldest !== undefined && this.#tallies.size >= MOST_TALLIES) this.#tallies.delete(oldest)
    this.#tallies.set(folder, tally)
    return tally
  }

  #add(folder: string, { sizeBytes, replacedBytes }: ArrivingBlock): void {
    const tally = this.#tallies.get(folder)
    if (!tally) return
    tally.blocks += replacedBytes === undefined ? 1 : 0
    tally.bytes += sizeBytes - (replacedBytes ?? 0)
    tally.keptSince += 1
  }

  #incomingOf(folder: string): number {
    return this.#incoming.get(folder) ?? 0
  }
}
