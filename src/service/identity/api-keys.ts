import { createHash, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto'
import { UsageError } from '../../core/errors.js'
import type { Database, Row } from '../../jobs/index.js'

/** An API key as it may be shown: everything but the secret. Times are Unix milliseconds. */
export interface ApiKey {
  readonly clientId: string
  readonly userId: string
  readonly name: string
  readonly createdMs: number
  readonly expiresMs: number
  readonly revokedMs: number | null
}

/** A key at the one moment at which its secret is known. */
export interface NewApiKey extends ApiKey {
  readonly clientSecret: string
}

/** The interface: a secret expires after 2 years. */
const SECRET_LIFETIME_MS = 2 * 365 * 24 * 3600_000

/** The API keys of a service's users. */
export class ApiKeys {
  constructor(private readonly database: Database) {}

  /** A key of two years. */
  create(userId: string, name: string): NewApiKey {
    return this.insert(userId, name, SECRET_LIFETIME_MS, true)
  }

  /** A key of a process for itself, which renews it while it runs; people do not see it. */
  createPassing(userId: string, name: string, lifetimeMs: number): NewApiKey {
    return this.insert(userId, name, lifetimeMs, false)
  }

  /** The keys that people made, oldest first. */
  list(): ApiKey[] {
    return this.database.all('SELECT * FROM api_key WHERE lasting = 1 ORDER BY created_ms, client_id').map(toKey)
  }

  /** Gives the key a new secret, good for two years; the old one is refused from now on. */
  regenerate(clientId: string): NewApiKey {
    const clientSecret = freshSecret()
    return this.database.transaction(() => {
      const key = this.known(clientId)
      const [createdMs, expiresMs] = [Date.now(), Date.now() + SECRET_LIFETIME_MS]
      this.database.run(
        'UPDATE api_key SET secret_hash = ?, created_ms = ?, expires_ms = ?, revoked_ms = NULL WHERE client_id = ?',
        [hashSecret(clientSecret), createdMs, expiresMs, clientId],
      )
      return { ...key, createdMs, expiresMs, revokedMs: null, clientSecret }
    })
  }

  /** From now on neither the key nor the tokens it got are good. */
  revoke(clientId: string): ApiKey {
    return this.database.transaction(() => {
      const key = this.known(clientId)
      const revokedMs = key.revokedMs ?? Date.now()
      this.database.run('UPDATE api_key SET revoked_ms = ? WHERE client_id = ?', [revokedMs, clientId])
      return { ...key, revokedMs }
    })
  }

  /** Moves the end of a key that is not revoked. */
  extend(clientId: string, expiresMs: number): void {
    this.database.run('UPDATE api_key SET expires_ms = ? WHERE client_id = ?', [expiresMs, clientId])
  }

  /** Removes a key that nobody will need again: that of a process which ends. */
  forget(clientId: string): void {
    this.database.run('DELETE FROM api_key WHERE client_id = ?', [clientId])
  }

  /** The key, if these credentials open it now. */
  authenticate(clientId: string, clientSecret: string): ApiKey | undefined {
    const row = this.database.get('SELECT * FROM api_key WHERE client_id = ?', [clientId])
    // The comparison is made for an unknown id too, so that time does not tell which ids there are.
    const stored = Buffer.from(String(row?.secret_hash ?? hashSecret('')), 'hex')
    const matches = timingSafeEqual(stored, Buffer.from(hashSecret(clientSecret), 'hex'))
    return row && matches ? usable(toKey(row)) : undefined
  }

  /** The key behind a token, if it is still good. */
  active(clientId: string): ApiKey | undefined {
    const row = this.database.get('SELECT * FROM api_key WHERE client_id = ?', [clientId])
    return row ? usable(toKey(row)) : undefined
  }

  private insert(userId: string, name: string, lifetimeMs: number, lasting: boolean): NewApiKey {
    const clientSecret = freshSecret()
    const createdMs = Date.now()
    const key = { clientId: randomUUID(), userId, name, createdMs, expiresMs: createdMs + lifetimeMs, revokedMs: null }
    this.database.run(
      `INSERT INTO api_key (client_id, user_id, name, secret_hash, created_ms, expires_ms, lasting)
       VALUES (?, ?, ?, ?, ?, ?, ?)`,
      [key.clientId, userId, name, hashSecret(clientSecret), createdMs, key.expiresMs, lasting ? 1 : 0],
    )
    return { ...key, clientSecret }
  }

  private known(clientId: string): ApiKey {
    const row = this.database.get('SELECT * FROM api_key WHERE client_id = ?', [clientId])
    if (row) return toKey(row)
    throw new UsageError('ERR_KEY_UNKNOWN', `There is no API key with the client id ${clientId}.`, {
      remedies: ['See which there are: voxmux portal keys list'],
    })
  }
}

/** 256 bits of randomness. */
function freshSecret(): string {
  return `vxm_${randomBytes(32).toString('base64url')}`
}

/**
 * SHA-256 and not scrypt: the secret is 256 random bits that we chose, so there is no dictionary that a slow hash
 * would have to hold up, and a slow one would let anybody load the token endpoint with guesses.
 */
function hashSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex')
}

function usable(key: ApiKey): ApiKey | undefined {
  return key.revokedMs === null && key.expiresMs > Date.now() ? key : undefined
}

function toKey(row: Row): ApiKey {
  return {
    clientId: String(row.client_id),
    userId: String(row.user_id),
    name: String(row.name),
    createdMs: Number(row.created_ms),
    expiresMs: Number(row.expires_ms),
    revokedMs: row.revoked_ms === null ? null : Number(row.revoked_ms),
  }
}
