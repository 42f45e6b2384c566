import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { type Logger, silentLogger } from '../../src/core/logger.js'

const run = promisify(execFile)

interface ServiceManagerOptions {
  /** `NOTIFY_SOCKET`, `WATCHDOG_USEC` and `WATCHDOG_PID`, as systemd sets them. */
  readonly env: NodeJS.ProcessEnv
  readonly logger?: Logger
}

/** Time limit of a message to systemd. The daemon never waits for it. */
const TOLD_MS = 10_000

/**
 * Sends the daemon's state to systemd (`Type=notify`), and does nothing without systemd. Node has no Unix datagram
 * sockets, so `systemd-notify` sends it: the unit needs `NotifyAccess=all`.
 */
export class ServiceManager {
  readonly #options: ServiceManagerOptions
  #watchdog: NodeJS.Timeout | undefined
  #isSilent: boolean

  constructor(options: ServiceManagerOptions) {
    this.#options = options
    this.#isSilent = !options.env.NOTIFY_SOCKET
  }

  /** Announces what `systemctl status` shows. */
  async status(status: string): Promise<void> {
    await this.#tell(`STATUS=${status}`)
  }

  /** Announces that the daemon runs, and starts to feed the watchdog. */
  async ready(status: string): Promise<void> {
    await this.#tell('READY=1', `STATUS=${status}`)
    clearInterval(this.#watchdog)
    const everyMs = this.#watchdogMs() / 2
    // Runs in the loop that does the work. If that hangs, systemd restarts the daemon.
    if (everyMs > 0 && !this.#isSilent) {
      this.#watchdog = setInterval(() => void this.#tell('WATCHDOG=1'), everyMs)
      this.#watchdog.unref()
    }
  }

  /** Announces that the configuration is read again. {@link ready} must follow, even if reading fails. */
  async reloading(): Promise<void> {
    // The time shows systemd (`Type=notify-reload`) that this responds to its latest hang-up.
    await this.#tell('RELOADING=1', `MONOTONIC_USEC=${process.hrtime.bigint() / 1000n}`)
  }

  async stopping(): Promise<void> {
    clearInterval(this.#watchdog)
    await this.#tell('STOPPING=1')
  }

  /** 0 if the watchdog is off or belongs to another process. */
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
      // Without the program, the next call will fail too.
      this.#isSilent = (cause as NodeJS.ErrnoException).code === 'ENOENT'
      logger.warn({ cause }, 'systemd could not be told how the daemon is (systemd-notify).')
    }
  }
}
