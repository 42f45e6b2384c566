import type { Database, Row } from '../../../ledger/index.js'
import type { SigningKeyRecords, StoredKey } from '../signing-key-records.js'
import { lockedSetting } from './locked-setting.js'

/** {@link SigningKeyRecords} in SQL. */
export class SqlSigningKeyRecords implements SigningKeyRecords {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  async all(): Promise<StoredKey[]> {
    return (await this.#database.all('SELECT * FROM signing_key ORDER BY created_ms DESC')).map(toStoredKey)
  }

  add({ kid, jwk }: Omit<StoredKey, 'createdMs'>, insteadOf: string | undefined, forgetMs: number): Promise<StoredKey> {
    return this.#database.transaction(async (tx) => {
      await lockedSetting(tx, 'signing_key')
      const row = await tx.get('SELECT * FROM signing_key ORDER BY created_ms DESC LIMIT 1')
      const newest = row && toStoredKey(row)
      if (newest && newest.kid !== insteadOf) return newest
      // Always later than the newest: two rotations in one millisecond would have no order.
      const createdMs = Math.max(tx.nowMs, (newest?.createdMs ?? 0) + 1)
      const insert = 'INSERT INTO signing_key (kid, private_jwk, created_ms) VALUES (?, ?, ?)'
      await tx.run(insert, [kid, JSON.stringify(jwk), createdMs])
      await tx.run(
        `DELETE FROM signing_key WHERE kid IN (
           SELECT older.kid FROM signing_key AS older JOIN signing_key AS newer ON newer.created_ms > older.created_ms
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
