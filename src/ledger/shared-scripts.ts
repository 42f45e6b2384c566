import type { Logger } from '../core/logger.js'

/** Runs scripts in a shared store, each of them atomically. */
export interface ScriptRunner {
  /**
   * Runs a script in Lua. It reads the prefix of its keys in `own` and its values in `A`. The variables `now` and
   * `nowText` hold the time of the store in Unix milliseconds.
   *
   * @param name unique on this connection
   * @throws {TransientError} `ERR_STORE_FULL`, `ERR_STORE_UNREACHABLE`
   * @throws {UsageError} `ERR_STORE_REFUSED`
   */
  run(name: string, lua: string, values: readonly (string | number)[]): Promise<unknown>
}

/** A connection to a shared store for data other than jobs. */
export interface SharedScripts {
  /** @param patienceMs how long a call waits for a store that is unreachable or full before it throws */
  runner(patienceMs: number): ScriptRunner
  close(): Promise<void>
}

export interface SharedScriptsOptions {
  /** Prefix of all keys. */
  readonly prefix: string
  /** Unix milliseconds, for tests; default: the clock of the store. */
  readonly now?: (() => number) | undefined
  readonly logger?: Logger | undefined
}
