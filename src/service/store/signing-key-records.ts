import type { JsonWebKey, webcrypto } from 'node:crypto'
import type { Database, Row } from '../../ledger/index.js'
import { lockedSetting } from './sql/locked-setting.js'

/** A private key and the id of its published public key. */
export interface SigningKey {
  readonly kid: string
  readonly privateKey: webcrypto.CryptoKey
}

/** A stored signing key. Times are Unix milliseconds. */
export interface StoredKey {
  readonly kid: string
  /** The private key. */
  readonly jwk: JsonWebKey
  readonly createdMs: number
}

/** The signing keys that all nodes of a service share. */
export class SigningKeyRecords {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  /** Newest first. */
  async all(): Promise<StoredKey[]> {
    return (await this.#database.all('SELECT * FROM signing_key ORDER BY created_ms DESC')).map(toStoredKey)
  }

  /**
   * Adds a key, unless another node was faster. Deletes keys that have not been the newest for `forgetMs`.
   *
   * @param insteadOf only if this key is still the newest; undefined: only if no key exists
   * @returns the newest key
   */
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
