import type { JobStore, Logger, SeenFiles } from 'voxmux'
import { lookAtRoot } from './folder-root.js'
import type { WatchedFolder } from './watched-folder.js'

export interface RootWatchOptions {
  readonly folder: WatchedFolder
  readonly jobs: JobStore
  readonly seen: SeenFiles
  readonly logger: Logger
  /** It went offline, or came back. */
  readonly onChange: () => void
}

/** Says whose pause it is: one that a person or an account-wide fault made is not ours to end. */
const PAUSE_PREFIX = 'offline: '
/** How long it was there is written down so often. */
const NOTE_MS = 60_000

/** Whether the root of a folder is there. While it is not, its jobs are paused: nothing is forgotten, nothing fails. */
export class RootWatch {
  readonly #options: RootWatchOptions
  #knownDev: bigint | null
  #reason: string | null = null
  #notedMs = Number.NEGATIVE_INFINITY

  constructor(options: RootWatchOptions) {
    this.#options = options
    this.#knownDev = options.seen.root(options.folder.group)?.dev ?? null
  }

  /** Device of the root when it was last there; null before it was ever seen. */
  get knownDev(): bigint | null {
    return this.#knownDev
  }

  /** Why it is offline; null while it is there. */
  get reason(): string | null {
    return this.#reason
  }

  /** Looks, and tells whether it is there. */
  async look(): Promise<boolean> {
    const look = await lookAtRoot(this.#options.folder, this.#knownDev)
    if (look.state === 'offline') await this.#goOffline(look.reason)
    else await this.#goOnline(look.dev)
    return look.state === 'online'
  }

  async #goOffline(reason: string): Promise<void> {
    const { folder, jobs, logger, onChange } = this.#options
    if (this.#reason === reason) return
    this.#reason = reason
    logger.warn({ folder: folder.path }, `${reason} Its files wait until it is back.`)
    onChange()
    await jobs.pause(folder.group, PAUSE_PREFIX + reason)
  }

  async #goOnline(dev: bigint): Promise<void> {
    const { folder, jobs, seen, logger, onChange } = this.#options
    const nowMs = performance.now()
    if (dev !== this.#knownDev || nowMs - this.#notedMs > NOTE_MS) {
      this.#knownDev = dev
      this.#notedMs = nowMs
      seen.putRoot(folder.group, { dev, seenMs: Date.now() })
      // One that a daemon before this one left behind.
      const pause = (await jobs.pauses()).find(({ group }) => group === folder.group)
      if (pause?.reason.startsWith(PAUSE_PREFIX)) await jobs.resume(folder.group)
    }
    if (this.#reason === null) return
    await jobs.resume(folder.group)
    this.#reason = null
    logger.info({ folder: folder.path }, `${folder.path} is back.`)
    onChange()
  }
}
