import type { ConnectionOptions } from 'node:tls'

/** How to reach a database. The types of a caller that has not installed `pg` compile with it. */
export interface PostgresAddress {
  /** Servers to try in turn. The store is on the one that accepts writes. */
  readonly hosts: readonly { readonly host: string; readonly port: number }[]
  readonly user: string
  readonly database: string
  readonly password?: string | (() => string | undefined) | undefined
  readonly ssl: false | ConnectionOptions
  /** Options of the session, such as `-c search_path=jobs`. */
  readonly options?: string | undefined
}
