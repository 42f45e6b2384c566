import type { Row, SqliteFile } from '../../../ledger/index.js'
import type { KeyChange, KeyRecord, KeyRecords } from '../key-records.js'
import type { SqliteContext } from './sqlite-context.js'

/** {@link KeyRecords} in SQLite. */
export class SqliteKeyRecords implements KeyRecords {
  readonly #database: SqliteFile
  readonly #now: () => number

  constructor({ database, now }: SqliteContext) {
    this.#database = database
    this.#now = now
  }

  async add(key: KeyRecord): Promise<void> {
    this.#insert(key)
  }

  async put(key: KeyRecord): Promise<KeyRecord> {
    return this.#database.transaction(() => {
      const sql = 'UPDATE api_key SET expires_ms = ? WHERE client_id = ?'
      if (this.#database.run(sql, [key.expiresMs, key.clientId]).changes === 0) this.#insert(key)
      const row = this.#database.get('SELECT * FROM api_key WHERE client_id = ?', [key.clientId])
      return row ? toKey(row) : key
    })
  }

  async addUnlessGood(key: KeyRecord): Promise<KeyRecord> {
    return this.#database.transaction(() => {
      const row = this.#database.get(
        `SELECT * FROM api_key WHERE lasting = 1 AND user_id = ? AND revoked_ms IS NULL AND expires_ms > ?
         ORDER BY created_ms DESC, client_id DESC LIMIT 1`,
        [key.userId, key.createdMs],
      )
      if (row) return toKey(row)
      this.#insert(key)
      return key
    })
  }

  async get(clientId: string): Promise<KeyRecord | undefined> {
    const row = this.#database.get('SELECT * FROM api_key WHERE client_id = ?', [clientId])
    return row && toKey(row)
  }

  async list(): Promise<KeyRecord[]> {
    return this.#database.all('SELECT * FROM api_key WHERE lasting = 1 ORDER BY created_ms, client_id').map(toKey)
  }

  async change(clientId: string, { secretHash, createdMs, expiresMs, revokedMs }: KeyChange): Promise<void> {
    this.#database.run(
      `UPDATE api_key SET secret_hash = coalesce(?, secret_hash), created_ms = coalesce(?, created_ms),
         expires_ms = coalesce(?, expires_ms), revoked_ms = CASE WHEN ? THEN ? ELSE revoked_ms END
       WHERE client_id = ?`,
      [
        secretHash ?? null,
        createdMs ?? null,
        expiresMs ?? null,
        revokedMs === undefined ? 0 : 1,
        revokedMs ?? null,
        clientId,
      ],
    )
  }

  async forget(clientId: string): Promise<void> {
    this.#database.run('DELETE FROM api_key WHERE client_id = ?', [clientId])
  }

  async forgetExpired(forMs: number): Promise<void> {
    this.#database.run('DELETE FROM api_key WHERE expires_ms < ?', [Math.floor(this.#now() - forMs)])
  }

  #insert(key: KeyRecord): void {
    this.#database.run(
      `INSERT INTO api_key (client_id, user_id, name, secret_hash, created_ms, expires_ms, revoked_ms, lasting)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      [
        key.clientId,
        key.userId,
        key.name,
        key.secretHash,
        key.createdMs,
        key.expiresMs,
        key.revokedMs,
        key.isLasting ? 1 : 0,
      ],
    )
  }
}

function toKey(row: Row): KeyRecord {
  return {
    clientId: String(row.client_id),
    userId: String(row.user_id),
    name: String(row.name),
    createdMs: Number(row.created_ms),
    expiresMs: Number(row.expires_ms),
    revokedMs: row.revoked_ms === null ? null : Number(row.revoked_ms),
    secretHash: String(row.secret_hash),
    isLasting: row.lasting === 1,
  }
}
