import { type Holder, isCertainlyDead } from '../holder.js'
import type { RedisScripts, StoreScript } from './redis-scripts.js'

/** How often it is worth looking; leases of other machines run out by time anyway. */
const EVERY_MS = 1000

/** Frees what processes of this machine held that are dead: their leases need not run out first. */
export class DeadHolders {
  readonly #scripts: RedisScripts
  readonly #list: () => Promise<Readonly<Record<string, string>>>
  readonly #free: StoreScript
  #lastMs = 0

  /**
   * @param list what is held, by whom (as JSON)
   * @param free script that frees A[1] where A[2] still holds it
   */
  constructor(scripts: RedisScripts, list: () => Promise<Readonly<Record<string, string>>>, free: StoreScript) {
    this.#scripts = scripts
    this.#list = list
    this.#free = free
  }

  /** @returns true where something became free */
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
