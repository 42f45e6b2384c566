import type { Database, Row, SqlValue } from '../../ledger/index.js'
/** An API key without its secret. Times are Unix milliseconds. */
export interface ApiKey {
  readonly clientId: string
  readonly userId: string
  readonly name: string
  readonly createdMs: number
  readonly expiresMs: number
  readonly revokedMs: number | null
}

/** An API key as it is stored. */
export interface KeyRecord extends ApiKey {
  readonly secretHash: string
  /** False for a key of a process, which lists do not show. */
  readonly isLasting: boolean
}

/** The fields of a key that may change. */
type KeyChange = Partial<Pick<KeyRecord, 'secretHash' | 'createdMs' | 'expiresMs' | 'revokedMs'>>

const INSERT = `INSERT INTO api_key (client_id, user_id, name, secret_hash, created_ms, expires_ms, revoked_ms, lasting)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (client_id)`

const COLUMNS: Readonly<Record<keyof KeyChange, string>> = {
  secretHash: 'secret_hash',
  createdMs: 'created_ms',
  expiresMs: 'expires_ms',
  revokedMs: 'revoked_ms',
}

/** The stored API keys; `ApiKeys` implements their rules. */
export class KeyRecords {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  async add(key: KeyRecord): Promise<void> {
    await this.#database.run(`${INSERT} DO NOTHING`, valuesOf(key))
  }

  /** Adds a key, or updates the expiry of an existing one. @returns the stored key */
  async put(key: KeyRecord): Promise<KeyRecord> {
    const upsert = `${INSERT} DO UPDATE SET expires_ms = excluded.expires_ms RETURNING *`
    return this.#database.transaction(async (tx) => toKey(await tx.get(upsert, valuesOf(key))) ?? key)
  }

  /** Adds a key, unless its user has a lasting one that is valid when this one begins. @returns the newest valid key */
  addUnlessGood(key: KeyRecord): Promise<KeyRecord> {
    return this.#database.transaction(async (tx) => {
      // One at a time for a user: two nodes that start together agree on one key.
      await tx.get(`SELECT id FROM user WHERE id = ? ${tx.dialect.forUpdate}`, [key.userId])
      const row = await tx.get(
        `SELECT * FROM api_key WHERE lasting = 1 AND user_id = ? AND revoked_ms IS NULL AND expires_ms > ?
         ORDER BY created_ms DESC, client_id DESC LIMIT 1`,
        [key.userId, key.createdMs],
      )
      if (!row) await tx.run(`${INSERT} DO NOTHING`, valuesOf(key))
      return toKey(row) ?? key
    })
  }

  async get(clientId: string): Promise<KeyRecord | undefined> {
    // PostgreSQL refuses a NUL within a text.
    if (clientId.includes('\0')) return undefined
    return toKey(await this.#database.get('SELECT * FROM api_key WHERE client_id = ?', [clientId]))
  }

  /** Lasting keys, oldest first. */
  async list(): Promise<KeyRecord[]> {
    const rows = await this.#database.all('SELECT * FROM api_key WHERE lasting = 1 ORDER BY created_ms, client_id')
    return rows.flatMap((row) => toKey(row) ?? [])
  }

  /** Changes a key. Does nothing if it does not exist. */
  async change(clientId: string, change: KeyChange): Promise<void> {
    const names = Object.keys(change) as (keyof KeyChange)[]
    const set = names.map((name) => `${COLUMNS[name]} = ?`).join(', ')
    const values = names.map((name): SqlValue => change[name] ?? null)
    await this.#database.run(`UPDATE api_key SET ${set} WHERE client_id = ?`, [...values, clientId])
  }

  async forget(clientId: string): Promise<void> {
    await this.#database.run('DELETE FROM api_key WHERE client_id = ?', [clientId])
  }

  /** Removes keys that expired longer ago than this. */
  async forgetExpired(forMs: number): Promise<void> {
    await this.#database.transaction((tx) =>
      tx.run('DELETE FROM api_key WHERE expires_ms < ?', [Math.floor(tx.nowMs - forMs)]),
    )
  }
}

function valuesOf(key: KeyRecord): SqlValue[] {
  const { clientId, userId, name, secretHash, createdMs, expiresMs, revokedMs, isLasting } = key
  return [clientId, userId, name, secretHash, createdMs, expiresMs, revokedMs, isLasting ? 1 : 0]
}

function toKey(row: Row | undefined): KeyRecord | undefined {
  if (!row) return undefined
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
