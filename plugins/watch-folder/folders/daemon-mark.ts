import { randomUUID } from 'node:crypto'
import { chmod, link, rename, rm, stat, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { readPlainFile } from '../../../src/core/read-plain-file.js'
import { sharedWhileRunning, withDeadline } from '../../../src/core/waiting.js'
import { isCertainlyDead, thisHolder } from '../../../src/ledger/index.js'
import { probePath } from '../../../src/pipeline/output/writable-folder.js'
import type { WatchedFolder } from '../watched-folder.js'

/** A mark that is older, or older than three scans of its daemon, is of a daemon that was killed on another machine. */
const LEAST_VALID_MS = 5 * 60_000
/** Interval at which a daemon renews its mark. */
const RENEW_MS = 60_000
/** A dead share responds after minutes or never. */
const ANSWER_MS = 15_000

const markSchema = z.object({
  ledger: z.string(),
  /** The daemon that wrote it. */
  writer: z.string(),
  /** Other users may write it, and it is shown. */
  host: z.string().regex(/^[\w.-]{1,253}$/),
  /** See {@link thisHolder}. */
  holder: z.object({ host: z.string(), pid: z.int().positive(), startTicks: z.string().nullable() }),
  validMs: z.number(),
})

/**
 * The hidden file with which the daemons of one ledger keep a watched folder from those of another, which do not know
 * what was paid. It is in the folder of outputs: the same files with other outputs are other jobs.
 */
export class DaemonMark {
  readonly #folder: WatchedFolder
  readonly #ledgerId: string
  readonly #writer = randomUUID()
  #writtenMs = Number.NEGATIVE_INFINITY
  readonly #look = sharedWhileRunning(() => this.#keep())

  /** @param ledgerId the same for all daemons that use one ledger */
  constructor(folder: WatchedFolder, ledgerId: string) {
    this.#folder = folder
    this.#ledgerId = ledgerId
  }

  /**
   * Marks the folder, or says why another daemon has it, for people. Null also for a folder that takes no mark: its jobs
   * report what is wrong with it.
   */
  async rival(): Promise<string | null> {
    return withDeadline(
      this.#look().catch(() => null),
      ANSWER_MS,
      () => null,
    )
  }

  /** Removes its own mark. Never rejects. */
  async leave(): Promise<void> {
    if (this.#writtenMs === Number.NEGATIVE_INFINITY) return
    const remove = async () => {
      const path = await this.#path()
      if ((await readMark(path))?.writer === this.#writer) await rm(path, { force: true })
    }
    await withDeadline(
      remove().catch(() => {}),
      ANSWER_MS,
      () => {},
    )
  }

  async #keep(): Promise<string | null> {
    const path = await this.#path()
    // Again if another daemon made its mark in this moment.
    for (let tries = 0; tries < 2; tries++) {
      const found = await readMark(path)
      const isOurs = found?.ledger === this.#ledgerId
      const isLeft = found !== undefined && isCertainlyDead(found.holder)
      if (found && !isOurs && !isLeft && Math.abs(found.ageMs) < found.validMs)
        return (
          `${this.#folder.path} is watched by a daemon on ${found.host} with another ledger, and both would pay for its ` +
          'files; stop one of them, or give both the same --store.'
        )
      // One that has just gone may have gone with its share.
      const ageMs = isOurs && !isLeft ? Math.abs(found.ageMs) : found ? RENEW_MS : performance.now() - this.#writtenMs
      if (ageMs < RENEW_MS || (await this.#write(path, { replace: found !== undefined }))) return null
    }
    return null
  }

  /** Machines mount a folder at different paths, but its inode is the same. */
  async #path(): Promise<string> {
    const { path, out } = this.#folder
    return join(out, `.voxmux-${(await stat(path, { bigint: true })).ino}.watched`)
  }

  /** @returns false if another daemon made a mark in this moment */
  async #write(path: string, { replace }: { readonly replace: boolean }): Promise<boolean> {
    const { out, scanMs } = this.#folder
    const part = probePath(out)
    const host = hostname().replace(/[^\w.-]/g, '_') || 'localhost'
    const mark: z.infer<typeof markSchema> = {
      ...{ ledger: this.#ledgerId, writer: this.#writer, host, holder: thisHolder() },
      validMs: Math.max(LEAST_VALID_MS, 3 * scanMs),
    }
    try {
      await writeFile(part, JSON.stringify(mark), { flag: 'wx' })
      // The daemon of another user needs to read it. Some shares have no modes.
      await chmod(part, 0o644).catch(() => {})
      const fault = replace ? 'replaced' : await link(part, path).catch((error: NodeJS.ErrnoException) => error.code)
      if (fault === 'EEXIST') return false
      // In the place of an old one, or on a disk without links. After the link it does nothing.
      await rename(part, path)
      this.#writtenMs = performance.now()
      return true
    } finally {
      await rm(part, { force: true })
    }
  }
}

/** Undefined if there is none that can be read. */
async function readMark(path: string): Promise<(z.infer<typeof markSchema> & { readonly ageMs: number }) | undefined> {
  try {
    const { mtimeMs } = await stat(path)
    const mark = markSchema.parse(JSON.parse((await readPlainFile(path)).toString('utf8')))
    return { ...mark, ageMs: Date.now() - mtimeMs }
  } catch {
    return undefined
  }
}
