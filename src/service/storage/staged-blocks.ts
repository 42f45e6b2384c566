import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable, type Transform } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { makeDurableFolder } from '../../core/make-folder.js'
import { type BlockSum, BlockTallies, MOST_BLOCKS } from './block-tallies.js'
import { ifMissing } from './if-missing.js'
import { StorageFault } from './storage-answers.js'
import { writeWhole } from './write-whole.js'

/** Ids to look up before other requests get a turn. */
const IDS_PER_TURN = 1000
/** Digits of a hash that name the subfolder of its block: 256 subfolders. */
const SHARD_DIGITS = 2
/** Largest block that is read at once. */
const SMALL_BYTES = 1 << 20

interface Block {
  readonly path: string
  readonly sizeBytes: number
}

interface UploadBounds {
  /** Largest total of all blocks in bytes, listed or not. */
  readonly maxBytes: number
  /** Streams that count and check the bytes. */
  readonly through: readonly Transform[]
  /** Throws if the input may not be replaced any more. */
  readonly assertOpen: () => Promise<void>
}

/**
 * Uploaded blocks that are not joined yet, in a folder of the file. A block's name contains its size, so that a listing
 * gives the total, whichever process received the blocks. They lie in subfolders by the first digits of their hash,
 * because an upload may have 50,000.
 */
export class StagedBlocks {
  readonly #folderOf: (fileId: string) => string
  readonly #tallies = new BlockTallies(sumOf)
  /** Running joins, by folder. One at a time, so that a file is not written several times at once. */
  readonly #joining = new Map<string, Promise<void>>()

  constructor(folderOf: (fileId: string) => string) {
    this.#folderOf = folderOf
  }

  /** Stores or replaces a block. @throws {StorageFault} `RequestBodyTooLarge`, `BlockCountExceedsLimit` */
  async keep(fileId: string, block: { id: string; sizeBytes: number }, source: Readable, bounds: UploadBounds) {
    const folder = this.#folderOf(fileId)
    const name = hashOf(block.id)
    const shard = join(folder, name.slice(0, SHARD_DIGITS))
    await makeDurableFolder(shard, 0o700)
    const before = (await blocksOf(shard)).get(name)
    const replacedBytes = before?.sizeBytes
    await this.#tallies.receive(folder, { sizeBytes: block.sizeBytes, replacedBytes }, bounds.maxBytes, async () => {
      const path = join(shard, `${name}-${block.sizeBytes}`)
      await writeWhole(path, [source, ...bounds.through], bounds)
      if (before && before.path !== path) await rm(before.path, { force: true })
    })
  }

  /**
   * Joins the blocks of a list, in its order, to a file and removes them.
   *
   * @param bounds its signal stops the join when the client has disconnected
   * @throws {StorageFault} `BlockListTooLong`, `InvalidBlockList`, `RequestBodyTooLarge`
   */
  async join(
    fileId: string,
    ids: readonly string[],
    target: string,
    bounds: UploadBounds & { readonly signal: AbortSignal },
  ) {
    if (ids.length > MOST_BLOCKS) throw new StorageFault('BlockListTooLong')
    const folder = this.#folderOf(fileId)
    const before = this.#joining.get(folder) ?? Promise.resolve()
    const turn = before.then(async () => {
      bounds.signal.throwIfAborted()
      const blocks = await listed(ids, await blocksIn(folder))
      if (sizeOf(blocks) > bounds.maxBytes) throw new StorageFault('RequestBodyTooLarge')
      const joined = Readable.from(bytesOf(blocks), { objectMode: false })
      await writeWhole(target, [joined, ...bounds.through], bounds)
      await this.remove(fileId)
    })
    const over = turn.catch(() => {})
    this.#joining.set(folder, over)
    try {
      await turn
    } finally {
      if (this.#joining.get(folder) === over) this.#joining.delete(folder)
    }
  }

  async remove(fileId: string): Promise<void> {
    const folder = this.#folderOf(fileId)
    this.#tallies.forget(folder)
    await rm(folder, { recursive: true, force: true })
  }
}

/** The blocks of an upload by the hash of their id. */
async function blocksIn(folder: string): Promise<ReadonlyMap<string, Block>> {
  const shards = await readdir(folder).catch(ifMissing([]))
  const found: [string, Block][] = []
  for (const shard of shards) for (const block of await blocksOf(join(folder, shard))) found.push(block)
  return new Map(found)
}

async function sumOf(folder: string): Promise<BlockSum> {
  const staged = await blocksIn(folder)
  return { blocks: staged.size, bytes: sizeOf([...staged.values()]) }
}

/** The blocks of a subfolder by the hash of their id. */
async function blocksOf(shard: string): Promise<ReadonlyMap<string, Block>> {
  const blocks = new Map<string, Block>()
  for (const name of await readdir(shard).catch(ifMissing([]))) {
    const [, hash, size] = /^([0-9a-f]{64})-(\d+)$/.exec(name) ?? []
    if (hash !== undefined) blocks.set(hash, { path: join(shard, name), sizeBytes: Number(size) })
  }
  return blocks
}

/** @throws {StorageFault} `InvalidBlockList` */
async function listed(ids: readonly string[], staged: ReadonlyMap<string, Block>): Promise<Block[]> {
  const blocks: Block[] = []
  for (const id of ids) {
    const block = staged.get(hashOf(id))
    if (!block) throw new StorageFault('InvalidBlockList')
    if (blocks.push(block) % IDS_PER_TURN === 0) await nextTurn()
  }
  return blocks
}

function sizeOf(blocks: readonly Block[]): number {
  return blocks.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
}

async function* bytesOf(blocks: readonly Block[]): AsyncGenerator<Buffer> {
  // A list may repeat a block: read it once.
  let last: { readonly path: string; readonly bytes: Buffer } | undefined
  for (const { path, sizeBytes } of blocks) {
    if (sizeBytes > SMALL_BYTES) yield* createReadStream(path)
    else {
      if (last?.path !== path) last = { path, bytes: await readFile(path) }
      yield last.bytes
    }
  }
}

/** Hashes a block id, because it is client text and must not name another path. */
function hashOf(blockId: string): string {
  return createHash('sha256').update(blockId).digest('hex')
}
