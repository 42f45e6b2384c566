import { lstat, mkdtemp, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import PQueue from 'p-queue'
import { UsageError } from '../../core/errors.js'
import { makeFolder } from '../../core/make-folder.js'
import { probe } from '../../media/index.js'
import type { Receipt } from '../output/receipt.js'
import { type Comparison, compareTracks } from './comparison.js'
import { withFiles } from './comparison-files.js'

/** A finished job from the job store. The receipt is not trusted, because others can write to its folder. */
export interface ComparedJob {
  readonly id: string
  /** Possible paths of the input. */
  readonly sources: readonly string[]
  readonly output: string
  readonly receipt: Receipt
}

/** Comparisons to keep. The least recently opened are deleted first. */
const MOST = 100
const INDEX = 'comparison.json'
const PART_PREFIX = '.part-'

/** Players and pictures of finished jobs, built at the first request and kept. */
export class ComparisonStore {
  readonly #folder: string
  /** One comparison at a time, because jobs come first. */
  readonly #queue = new PQueue({ concurrency: 1 })
  readonly #building = new Map<string, Promise<readonly Comparison[]>>()
  readonly #stop = new AbortController()

  /** @param folder its own, closed to other users */
  constructor(folder: string) {
    this.#folder = folder
  }

  /**
   * The comparison of a finished job, with its files as paths.
   *
   * @throws {UsageError} `ERR_COMPARISON_GONE` if the input or output is no longer the file in the receipt
   */
  async get(job: ComparedJob): Promise<readonly Comparison[]> {
    // The hash of the output makes a new output a new comparison.
    const key = `${job.id}-${job.receipt.output.sha256.slice(0, 16)}`
    const known = await readIndex(join(this.#folder, key))
    if (known) return known
    const building = this.#building.get(key) ?? this.#queue.add(() => this.#build(job, key))
    this.#building.set(key, building)
    return building.finally(() => this.#building.delete(key))
  }

  /** Stops what is being built. */
  async close(): Promise<void> {
    this.#stop.abort()
    this.#queue.clear()
    await Promise.allSettled(this.#building.values())
  }

  async #build({ sources, output, receipt }: ComparedJob, key: string): Promise<readonly Comparison[]> {
    const folder = this.#folder
    const { sizeBytes, mtimeMs } = receipt.input
    const source = await unchangedOf(sources, sizeBytes, mtimeMs, stat)
    // A link in its place could lead to what its author may not hear.
    await unchangedOf([output], receipt.output.sizeBytes, null, lstat)
    const { signal } = this.#stop
    const [before, after] = [await probe(source, { signal }), await probe(output, { signal })]
    makeFolder(folder, 0o700)
    await this.#makeRoom()
    const part = await mkdtemp(join(folder, PART_PREFIX))
    try {
      const { durationSec } = after
      const made = await compareTracks(receipt, { before, after, durationSec, workFolder: part, signal })
      const named = made.map((comparison) => withFiles(comparison, (path) => basename(path)))
      await writeFile(join(part, INDEX), JSON.stringify(named))
      await rename(part, join(folder, key))
      return (await readIndex(join(folder, key))) ?? []
    } finally {
      await rm(part, { recursive: true, force: true })
    }
  }

  /** Deletes what a crash left, and the least recently opened comparisons above the limit. */
  async #makeRoom(): Promise<void> {
    const folder = this.#folder
    const names = await readdir(folder)
    const kept = names.filter((name) => !name.startsWith(PART_PREFIX))
    const aged = await Promise.all(kept.map(async (name) => ({ name, ms: (await stat(join(folder, name))).mtimeMs })))
    const oldest = aged.sort((a, b) => b.ms - a.ms).slice(MOST - 1)
    const stale = names.filter((name) => name.startsWith(PART_PREFIX))
    for (const name of [...oldest.map(({ name }) => name), ...stale])
      await rm(join(folder, name), { recursive: true, force: true })
  }
}

/** A comparison that was built before; undefined if there is none. Reading it makes it recent. */
async function readIndex(folder: string): Promise<readonly Comparison[] | undefined> {
  const text = await readFile(join(folder, INDEX), 'utf8').catch(() => undefined)
  if (text === undefined) return undefined
  await utimes(folder, new Date(), new Date()).catch(() => {})
  return (JSON.parse(text) as Comparison[]).map((comparison) => withFiles(comparison, (name) => join(folder, name)))
}

/** The first of the paths that still holds the file in the receipt. */
async function unchangedOf(
  paths: readonly string[],
  sizeBytes: number | null,
  mtimeMs: number | null,
  examine: typeof stat,
): Promise<string> {
  let isThere = false
  for (const path of paths) {
    const found = await examine(path).catch(() => null)
    if (found === null) continue
    isThere = true
    if (found.isFile() && found.size === sizeBytes && (mtimeMs === null || Math.abs(found.mtimeMs - mtimeMs) < 2))
      return path
  }
  const name = basename(paths[0] ?? '')
  const what = isThere ? 'is not the file that it was when the job was done' : 'is not there any more'
  throw new UsageError('ERR_COMPARISON_GONE', `${name} ${what}: there is nothing to compare.`, { input: paths[0] })
}
