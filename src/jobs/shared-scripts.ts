import type { Logger } from '../core/logger.js'

/** Runs scripts in a shared store, each of them whole or not at all. */
export interface ScriptRunner {
  /**
   * Runs a script in Lua. `own` is what its keys begin with, `A` its values, `now` (and `nowText`) the time of the store
   * in Unix milliseconds.
   *
   * @param name unique on this connection
   * @throws TransientError `ERR_STORE_FULL`, `ERR_STORE_UNREACHABLE`; UsageError `ERR_STORE_REFUSED`
   */
  run(name: string, lua: string, values: readonly (string | number)[]): Promise<unknown>
}

/** A connection to a shared store for what is not a job. */
export interface SharedScripts {
  /** @param patienceMs how long a call waits for a store that is away or full before it throws */
  runner(patienceMs: number): ScriptRunner
  close(): Promise<void>
}

export interface SharedScriptsOptions {
  /** What all keys begin with. */
  readonly prefix: string
  /** Unix milliseconds, for tests; default the clock of the store. */
  readonly now?: (() => number) | undefined
  readonly logger?: Logger | undefined
}
