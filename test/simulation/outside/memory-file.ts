import type Libsql from 'libsql'

export type Connect = new (path: string) => Libsql.Database
type Bound = readonly (string | number | bigint | null | Uint8Array)[]

interface Statement {
  readonly real: Libsql.Statement
  /** Tables that it reads or changes. */
  readonly tables: readonly string[]
  readonly isDelete: boolean
  readonly isWrite: boolean
}

const TABLE = /\b(?:FROM|JOIN|INTO|UPDATE)\s+(\w+)/g
const SETTING = /^PRAGMA \w+ = /

/**
 * A SQLite file in memory. Most of a month would be spent in libsql: so each statement is prepared once, what was read
 * is remembered until its tables change, and a transaction begins with its first change.
 */
export class MemoryFile {
  readonly #database: Libsql.Database
  readonly #statements = new Map<string, Statement>()
  readonly #answers = new Map<string, { readonly rows: unknown[]; readonly after: number }>()
  #changeCount = 0
  /** Number of the last change of each table. */
  readonly #changes = new Map<string, number>()
  readonly #settings = new Set<string>()
  #transaction: 'none' | 'announced' | 'begun' = 'none'

  constructor(Real: Connect) {
    this.#database = new Real(':memory:')
  }

  get inTransaction(): boolean {
    return this.#transaction !== 'none'
  }

  exec(sql: string): void {
    if (sql === 'BEGIN IMMEDIATE') this.#transaction = 'announced'
    else if (sql === 'COMMIT' || sql === 'ROLLBACK') this.#end(sql)
    else if (!this.#isSet(sql)) this.#change(() => this.#database.exec(sql))
  }

  all(sql: string, bound: Bound): unknown[] {
    if (SETTING.test(sql)) return this.#isSet(sql) ? [] : this.#change(() => this.#statement(sql).real.all(bound))
    const key = bound.length === 0 ? sql : `${sql}\n${bound.join('\n')}`
    const known = this.#answers.get(key)
    const statement = this.#statement(sql)
    if (known && statement.tables.every((table) => (this.#changes.get(table) ?? 0) <= known.after)) return known.rows
    if (statement.isWrite) this.#begin()
    const rows = statement.real.all(bound)
    if (!statement.isWrite) this.#answers.set(key, { rows, after: this.#changeCount })
    else if (rows.length > 0) this.#countChange(statement)
    return rows
  }

  /** @returns how many rows it changed */
  run(sql: string, bound: Bound): number {
    this.#begin()
    const statement = this.#statement(sql)
    const { changes } = statement.real.run(bound)
    if (changes > 0) this.#countChange(statement)
    return changes
  }

  /** True for a statement that changes rows, also if it returns them. */
  isWrite(sql: string): boolean {
    return this.#statement(sql).isWrite
  }

  #countChange({ tables, isDelete }: Statement): void {
    // Rows of other tables may go with those that are deleted.
    if (isDelete) this.#answers.clear()
    this.#changeCount += 1
    // A trigger of jobs changes lanes.
    for (const table of tables.includes('jobs') ? [...tables, 'lanes'] : tables)
      this.#changes.set(table, this.#changeCount)
  }

  /** Removes every row. The next world finds the schema made. */
  empty(): void {
    if (this.inTransaction) this.#end('ROLLBACK')
    // The youngest table first: it may refer to older ones.
    const tables = this.all("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY rowid DESC", [])
    for (const { name } of tables as { name: string }[]) this.run(`DELETE FROM ${name}`, [])
    this.#answers.clear()
  }

  /** True for a setting that was made before: it holds for the file in memory, whoever opens it. */
  #isSet(sql: string): boolean {
    if (!SETTING.test(sql)) return false
    const isSet = this.#settings.has(sql)
    this.#settings.add(sql)
    return isSet
  }

  #begin(): void {
    if (this.#transaction !== 'announced') return
    this.#transaction = 'begun'
    this.#database.exec('BEGIN IMMEDIATE')
  }

  #end(sql: string): void {
    if (this.#transaction === 'begun') this.#database.exec(sql)
    if (sql === 'ROLLBACK') this.#answers.clear()
    this.#transaction = 'none'
  }

  #change<T>(work: () => T): T {
    this.#begin()
    this.#answers.clear()
    return work()
  }

  #statement(sql: string): Statement {
    const known = this.#statements.get(sql)
    if (known) return known
    const tables = [...sql.matchAll(TABLE)].map(([, name]) => name ?? '')
    const real = this.#database.prepare(sql).safeIntegers(true)
    const statement = {
      real,
      tables,
      isDelete: /^\s*DELETE/.test(sql),
      isWrite: /^\s*(?:DELETE|UPDATE|INSERT)/.test(sql),
    }
    this.#statements.set(sql, statement)
    return statement
  }
}
