import type Libsql from 'libsql'
import { PLACES } from '../places.js'
import { currentWorld } from '../world/current-world.js'
import { ProcessGone } from '../world/sim-process.js'
import type { World } from '../world/world.js'
import { type Connect, MemoryFile } from './memory-file.js'

/** Files of a world, by path. They live as long as it does: a kill takes no committed transaction back. */
const files = new WeakMap<World, Map<string, MemoryFile>>()
/** Empty files that earlier worlds left, by path. */
const kept = new Map<string, MemoryFile>()

/** Rows of the ledger, read past voxmux. */
export function rowsOf<T>(world: World, sql: string, bound: readonly string[] = []): T[] {
  return (files.get(world)?.get(PLACES.ledger)?.all(sql, bound) ?? []) as T[]
}

/** Leaves the files of a world to the next one. */
export function closeDatabases(world: World): void {
  for (const [path, file] of files.get(world) ?? []) {
    file.empty()
    kept.set(path, file)
  }
  files.delete(world)
}

/** libsql with its files in memory: a real SQLite, which a process may be killed at before or after a commit. */
export function simulatedLibsql(Real: Connect): Connect {
  class SimulatedDatabase {
    readonly #world: World
    readonly #file: MemoryFile

    constructor(path: string) {
      const world = currentWorld()
      if (!world) throw new Error('The simulated database needs a simulated world.')
      const known = files.get(world) ?? new Map<string, MemoryFile>()
      files.set(world, known)
      this.#world = world
      this.#file = known.get(path) ?? kept.get(path) ?? new MemoryFile(Real)
      kept.delete(path)
      known.set(path, this.#file)
    }

    get inTransaction(): boolean {
      return this.#isAlive && this.#file.inTransaction
    }

    exec(sql: string): void {
      this.#requireAlive()
      try {
        if (sql !== 'COMMIT') this.#file.exec(sql)
        else this.#world.performNow('commit', () => this.#file.exec(sql))
      } catch (error) {
        if (error instanceof ProcessGone && this.#file.inTransaction) this.#file.exec('ROLLBACK')
        throw error
      }
    }

    prepare(sql: string) {
      const statement = {
        safeIntegers: () => statement,
        all: (bound: never[]) => {
          this.#requireAlive()
          const rows = this.#file.all(sql, bound)
          if (rows.length > 0 && this.#file.isWrite(sql)) this.#world.activity += 1
          return rows
        },
        run: (bound: never[]): Pick<Libsql.RunResult, 'changes'> => {
          this.#requireAlive()
          const changes = this.#file.run(sql, bound)
          if (changes > 0) this.#world.activity += 1
          if (!this.#file.inTransaction) this.#world.performNow('the next statement', () => {})
          return { changes }
        },
      }
      return statement
    }

    close(): void {}

    get #isAlive(): boolean {
      return this.#world.current?.isAlive !== false
    }

    #requireAlive(): void {
      if (!this.#isAlive) throw new ProcessGone()
    }
  }
  return SimulatedDatabase as unknown as Connect
}
