import type { Row, SqlValue } from './connection.js'

export type { Row, SqlValue }

/**
 * Runs SQL. Statements are written once, for both engines, with `?` or `?1` for values. The driver of PostgreSQL
 * renames the placeholders and leaves `INDEXED BY` out. It also puts a prefix before the names of tables and indexes.
 * No column therefore has the name of a table. A boolean is read as 0 or 1.
 */
export interface Statements {
  readonly dialect: Dialect
  run(sql: string, values?: readonly SqlValue[]): Promise<{ readonly changes: number }>
  /** First row, or undefined. */
  get(sql: string, values?: readonly SqlValue[]): Promise<Row | undefined>
  all(sql: string, values?: readonly SqlValue[]): Promise<Row[]>
}

/** The differences of the two dialects. */
export interface Dialect {
  /** After a SELECT: locks the rows until the transaction ends. Empty for SQLite, with its one writer; so are the others. */
  readonly forUpdate: string
  /** As `forUpdate`, without the rows that another transaction changes. */
  readonly lockFree: string
  /** As `forUpdate`, without the rows that another transaction changes or keeps. */
  readonly lockUnused: string
  /** After a SELECT: keeps the rows from being deleted. */
  readonly keep: string
  /** Condition: the column has one of the values that a SELECT finds first. */
  isIn(column: string, select: string): string
  /** Condition: the expression is among the texts of a JSON list, which is bound to the placeholder. */
  isOneOf(expression: string, placeholder: string): string
  /** A text within a column of JSON. */
  jsonText(column: string, name: string): string
}

/** An open transaction. */
export interface Transaction extends Statements {
  /** When it began, in Unix milliseconds: by the clock of the PostgreSQL server, or of this process for SQLite. */
  readonly nowMs: number
  /** Sends a text to the listeners of a channel when the transaction is committed. Does nothing on SQLite. */
  notify(channel: string, text: string): Promise<void>
}

/**
 * One SQL store, embedded (SQLite) or shared (PostgreSQL). While a shared one is unreachable, starting, full or out of
 * connections, each call waits, up to its patience.
 */
export interface Database extends Statements {
  /** Outside of a transaction; only a statement that may run twice, because the answer of a server may be lost. */
  run(sql: string, values?: readonly SqlValue[]): Promise<{ readonly changes: number }>
  /**
   * Runs `work` atomically. SQLite runs one transaction at a time (`BEGIN IMMEDIATE`). PostgreSQL runs many (`READ
   * COMMITTED`). It repeats `work` after a deadlock, a serialization failure or a lost connection. `work` therefore
   * changes nothing but the database, through `tx` alone.
   *
   * When the answer of a commit is lost, the driver asks the server about that transaction by its number. It repeats
   * `work` only if the transaction was not committed. After a failover the number means nothing, and `work` is repeated
   * in any case. Each change therefore names its lease and its call, or is idempotent by key.
   */
  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>
  /** About the time of the store, in Unix milliseconds. That of a transaction is exact. */
  nowMs(): number
  /** Sends a text to all listeners of a channel, in this and other processes. Does nothing on SQLite. */
  notify(channel: string, text: string): Promise<void>
  listen(channel: string, hear: (text: string) => void): Promise<Listening>
  /** The same store with another patience. */
  withPatience(patienceMs: number): Database
  close(): Promise<void>
}

export interface Listening {
  /** False for a store that cannot notify (SQLite, a pooler in transaction mode) and while the connection is lost. */
  isHearing(): boolean
  stop(): Promise<void>
}

/** A script that updates the schema, for both engines or for each. */
export type Migration = string | { readonly sqlite: string; readonly postgres: string }
