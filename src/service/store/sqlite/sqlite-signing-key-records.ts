import type { Row, SqliteFile } from '../../../ledger/index.js'
import type { SigningKeyRecords, StoredKey } from '../signing-key-records.js'
import type { SqliteContext } from './sqlite-context.js'

/** {@link SigningKeyRecords} in SQLite. */
export class SqliteSigningKeyRecords implements SigningKeyRecords {
  readonly #database: SqliteFile
  readonly #now: () => number

  constructor({ database, now }: SqliteContext) {
    this.#database = database
    this.#now = now
  }

  async all(): Promise<StoredKey[]> {
    return this.#database.all('SELECT * FROM signing_key ORDER BY created_ms DESC').map(toStoredKey)
  }

  async add(
    { kid, jwk }: Omit<StoredKey, 'createdMs'>,
    insteadOf: string | undefined,
    forgetMs: number,
  ): Promise<StoredKey> {
    return this.#database.transaction(() => {
      const row = this.#database.get('SELECT * FROM signing_key ORDER BY created_ms DESC LIMIT 1')
      const newest = row && toStoredKey(row)
      if (newest && newest.kid !== insteadOf) return newest
      // Always later than the newest: two rotations in one millisecond would have no order.
      const createdMs = Math.max(this.#now(), (newest?.createdMs ?? 0) + 1)
      this.#database.run('INSERT INTO signing_key (kid, private_jwk, created_ms) VALUES (?, ?, ?)', [
        kid,
        JSON.stringify(jwk),
        createdMs,
      ])
      this.#database.run(
        `DELETE FROM signing_key WHERE kid IN (
           SELECT older.kid FROM signing_key older JOIN signing_key newer ON newer.created_ms > older.created_ms
           GROUP BY older.kid HAVING MIN(newer.created_ms) < ?)`,
        [createdMs - forgetMs],
      )
      return { kid, jwk, createdMs }
    })
  }
}

function toStoredKey(row: Row): StoredKey {
  return { kid: String(row.kid), jwk: JSON.parse(String(row.private_jwk)), createdMs: Number(row.created_ms) }
}
