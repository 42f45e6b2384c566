import { type Holder, isCertainlyDead } from '../leases/holder.js'
import type { RedisScripts, StoreScript } from './redis-scripts.js'

/** Shortest time between two checks. Leases of other machines expire by themselves. */
const EVERY_MS = 1000

/** Frees the claims of dead processes of this machine, so that nobody waits for their leases to expire. */
export class DeadHolders {
  readonly #scripts: RedisScripts
  readonly #list: () => Promise<Readonly<Record<string, string>>>
  readonly #free: StoreScript
  #lastMs = 0

  /**
   * @param list lists the claims: id → holder as JSON
   * @param free script that frees A[1] if A[2] still holds it
   */
  constructor(scripts: RedisScripts, list: () => Promise<Readonly<Record<string, string>>>, free: StoreScript) {
    this.#scripts = scripts
    this.#list = list
    this.#free = free
  }

  /** @returns true if it freed something */
  async free(): Promise<boolean> {
    if (Date.now() - this.#lastMs < EVERY_MS) return false
    this.#lastMs = Date.now()
    let freed = 0
    const known = new Map<string, boolean>()
    for (const [what, text] of Object.entries(await this.#list())) {
      if (!known.has(text)) known.set(text, isCertainlyDead(JSON.parse(text) as Holder))
      if (known.get(text)) freed += Number(await this.#scripts.run('freeDead', this.#free, [what, text]))
    }
    return freed > 0
  }
}
