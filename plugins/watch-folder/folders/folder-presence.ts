import type { Logger } from '../../../src/core/logger.js'
import type { JobStore } from '../../../src/ledger/index.js'
import type { UsedFolders } from './used-folders.js'

interface FolderPresenceOptions {
  readonly used: UsedFolders
  /** Says why the files of a folder that is present are another daemon's. */
  readonly rival: () => Promise<string | null>
  readonly jobs: JobStore
  readonly logger: Logger
  /** Called when it went offline or came back. */
  readonly onChange: () => void
}

/** Marks our own pauses. One of a person or of an account-wide fault is not ours to end. */
const PAUSE_PREFIX = 'offline: '
/** Pause between two searches for a pause that another process left behind. */
const LEFT_BEHIND_MS = 60_000

/**
 * Watches whether a folder and those that it fills are present, and not another daemon's. Otherwise its jobs are paused:
 * nothing is forgotten, nothing fails, and nothing is written to a bare mount point.
 */
export class FolderPresence {
  readonly #options: FolderPresenceOptions
  #reason: string | null = null
  #isRivals = false
  #isPrepared = false
  #lookedMs = Number.NEGATIVE_INFINITY

  constructor(options: FolderPresenceOptions) {
    this.#options = options
  }

  /** Why it is offline; null while it is present. */
  get reason(): string | null {
    return this.#reason
  }

  /**
   * Checks whether it is present. The first time that it is, creates the folders that it fills.
   *
   * @throws {UsageError} `ERR_WATCH_FOLDER` if they cannot be what they are configured to be
   */
  async look(): Promise<boolean> {
    const { used, rival } = this.#options
    const absence = await used.absence({ make: !this.#isPrepared })
    const reason = absence ?? (await rival())
    this.#isRivals = absence === null && reason !== null
    if (reason === null) await this.#goOnline()
    else await this.#goOffline(reason)
    return reason === null
  }

  async #goOffline(reason: string): Promise<void> {
    const { used, jobs, logger, onChange } = this.#options
    if (this.#reason === reason) return
    this.#reason = reason
    logger.warn({ folder: used.folder.path }, `${reason} Its files wait until this is repaired.`)
    onChange()
    const pause = await this.#pause()
    if (pause === undefined || pause.startsWith(PAUSE_PREFIX))
      await jobs.pause(used.folder.group, PAUSE_PREFIX + reason)
  }

  async #goOnline(): Promise<void> {
    const { used, logger, onChange } = this.#options
    const { path } = used.folder
    this.#isPrepared = true
    const nowMs = performance.now()
    if (nowMs - this.#lookedMs > LEFT_BEHIND_MS) {
      this.#lookedMs = nowMs
      await this.#resume()
    }
    if (this.#reason === null) return
    await this.#resume()
    this.#reason = null
    logger.info({ folder: path }, `${path} is watched again.`)
    onChange()
  }

  /**
   * Ends its own pause, because nobody watches for its return any more. One for another daemon stays: a worker elsewhere
   * would pay for the files of that one.
   */
  async leave(): Promise<void> {
    if (this.#reason !== null && !this.#isRivals) await this.#resume()
  }

  async #resume(): Promise<void> {
    const { used, jobs } = this.#options
    if ((await this.#pause())?.startsWith(PAUSE_PREFIX)) await jobs.resume(used.folder.group)
  }

  async #pause(): Promise<string | undefined> {
    const { used, jobs } = this.#options
    return (await jobs.pauses()).find(({ group }) => group === used.folder.group)?.reason
  }
}
