import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { type Logger, silentLogger } from '../../src/core/logger.js'

const run = promisify(execFile)

export interface ServiceManagerOptions {
  /** `NOTIFY_SOCKET`, `WATCHDOG_USEC` and `WATCHDOG_PID`, as systemd sets them. */
  readonly env: NodeJS.ProcessEnv
  readonly logger?: Logger
}

/** Longest time that a word to systemd may take; the daemon never waits for it at its work. */
const TOLD_MS = 10_000

/**
 * Tells systemd how the daemon is (`Type=notify`); without systemd it tells nobody. Node has no datagram sockets of
 * the Unix kind, so systemd's own `systemd-notify` carries the word: the unit needs `NotifyAccess=all`.
 */
export class ServiceManager {
  readonly #options: ServiceManagerOptions
  #watchdog: NodeJS.Timeout | undefined
  #isSilent: boolean

  constructor(options: ServiceManagerOptions) {
    this.#options = options
    this.#isSilent = !options.env.NOTIFY_SOCKET
  }

  /** All folders are looked after, for the first time or after a reload. Begins to feed the watchdog. */
  async ready(status: string): Promise<void> {
    await this.#tell('READY=1', `STATUS=${status}`)
    clearInterval(this.#watchdog)
    const everyMs = this.#watchdogMs() / 2
    // From the loop that does the work: where that hangs, systemd hears nothing and starts the daemon anew.
    if (everyMs > 0 && !this.#isSilent) {
      this.#watchdog = setInterval(() => void this.#tell('WATCHDOG=1'), everyMs)
      this.#watchdog.unref()
    }
  }

  /** The configuration is read again; to be followed by {@link ready}, also where it cannot be. */
  async reloading(): Promise<void> {
    // The time tells systemd (`Type=notify-reload`) that this answers the hang-up it has sent, and no earlier one.
    await this.#tell('RELOADING=1', `MONOTONIC_USEC=${process.hrtime.bigint() / 1000n}`)
  }

  async stopping(): Promise<void> {
    clearInterval(this.#watchdog)
    await this.#tell('STOPPING=1')
  }

  /** 0 where the watchdog is off, or is another process's. */
  #watchdogMs(): number {
    const { WATCHDOG_USEC, WATCHDOG_PID } = this.#options.env
    if (WATCHDOG_PID !== undefined && WATCHDOG_PID !== String(process.pid)) return 0
    return Number(WATCHDOG_USEC ?? 0) / 1000
  }

  async #tell(...assignments: readonly string[]): Promise<void> {
    if (this.#isSilent) return
    const { NOTIFY_SOCKET, PATH } = this.#options.env
    try {
      await run('systemd-notify', assignments, { env: { NOTIFY_SOCKET, PATH }, timeout: TOLD_MS })
    } catch (cause) {
      const { logger = silentLogger } = this.#options
      // Once is enough: without the program it will not go better the next time.
      this.#isSilent = (cause as NodeJS.ErrnoException).code === 'ENOENT'
      logger.warn({ cause }, 'systemd could not be told how the daemon is (systemd-notify).')
    }
  }
}
