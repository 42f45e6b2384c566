import type Libsql from 'libsql'
import { currentWorld } from '../world/current-world.js'
import { ProcessGone } from '../world/sim-process.js'
import type { World } from '../world/world.js'

type Connect = new (path: string) => Libsql.Database

/** Databases of a world, by path. They live as long as it does: a kill takes no committed transaction back. */
const databases = new WeakMap<World, Map<string, Libsql.Database>>()

export function databaseOf(world: World, path: string): Libsql.Database | undefined {
  return databases.get(world)?.get(path)
}

export function closeDatabases(world: World): void {
  for (const database of databases.get(world)?.values() ?? []) database.close()
  databases.delete(world)
}

/** What a database answered since it was changed last: most of what a process asks at rest is asked again and again. */
const answers = new WeakMap<Libsql.Database, Map<string, unknown[]>>()

/** libsql with its files in memory: a real SQLite, which a process may be killed at before or after a commit. */
export function simulatedLibsql(Real: Connect): Connect {
  class SimulatedDatabase {
    readonly #world: World
    readonly #database: Libsql.Database

    constructor(path: string) {
      const world = currentWorld()
      if (!world) throw new Error('The simulated database needs a simulated world.')
      const known = databases.get(world) ?? new Map<string, Libsql.Database>()
      databases.set(world, known)
      this.#world = world
      this.#database = known.get(path) ?? new Real(':memory:')
      known.set(path, this.#database)
    }

    get inTransaction(): boolean {
      return this.#isAlive && this.#database.inTransaction
    }

    exec(sql: string): unknown {
      if (sql !== 'BEGIN IMMEDIATE' && sql !== 'COMMIT') answers.delete(this.#database)
      if (sql !== 'COMMIT') return this.#alive(() => this.#database.exec(sql))
      try {
        return this.#step('commit', () => this.#database.exec(sql))
      } catch (error) {
        if (error instanceof ProcessGone && this.#database.inTransaction) {
          this.#database.exec('ROLLBACK')
          answers.delete(this.#database)
        }
        throw error
      }
    }

    prepare(sql: string) {
      const statement = this.#alive(() => this.#database.prepare(sql))
      const wrapped = {
        safeIntegers: (isOn: boolean) => {
          statement.safeIntegers(isOn)
          return wrapped
        },
        all: (bound: unknown[]) => this.#alive(() => this.#read(sql, statement, bound)),
        get: (bound: unknown[]) => this.#alive(() => statement.get(bound)),
        run: (bound: unknown[]) => {
          const result = this.#alive(() => statement.run(bound))
          if (result.changes > 0) {
            this.#world.activity += 1
            answers.delete(this.#database)
          }
          if (!this.#database.inTransaction) this.#step('the next statement', () => {})
          return result
        },
      }
      return wrapped
    }

    close(): void {}

    #read(sql: string, statement: Libsql.Statement, bound: unknown[]): unknown[] {
      if (!sql.startsWith('SELECT')) return statement.all(bound)
      const known = answers.get(this.#database) ?? new Map<string, unknown[]>()
      answers.set(this.#database, known)
      const key = `${sql} ${bound.join('\n')}`
      const rows = known.get(key) ?? statement.all(bound)
      known.set(key, rows)
      return rows
    }

    get #isAlive(): boolean {
      return this.#world.current?.isAlive !== false
    }

    #alive<T>(work: () => T): T {
      if (!this.#isAlive) throw new ProcessGone()
      return work()
    }

    #step<T>(what: string, work: () => T): T {
      return this.#world.performNow(what, work)
    }
  }
  return SimulatedDatabase as unknown as Connect
}
