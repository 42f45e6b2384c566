import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { UsageError } from '../../core/errors.js'
import { isSameSecret } from '../../core/same-secret.js'
import type { ApiKey, KeyRecord, KeyRecords } from '../store/key-records.js'

/** A key right after its creation, the only time at which its secret is known. */
export interface NewApiKey extends ApiKey {
  readonly clientSecret: string
}

/** Set by the interface: a secret expires after 2 years. */
const SECRET_LIFETIME_YEARS = 2

/** The same moment (UTC) two calendar years later. 29 February becomes 1 March. */
export function secretExpiryMs(createdMs: number): number {
  return new Date(createdMs).setUTCFullYear(new Date(createdMs).getUTCFullYear() + SECRET_LIFETIME_YEARS)
}

/** The API keys of a service's users. */
export class ApiKeys {
  readonly #records: KeyRecords
  /** Keys that this process created for itself, with the lifetime that each renewal adds. */
  readonly #own = new Map<string, { readonly record: KeyRecord; readonly lifetimeMs: number }>()

  constructor(records: KeyRecords) {
    this.#records = records
  }

  /** Creates a key that is valid for two years. */
  create(userId: string, name: string): Promise<NewApiKey> {
    return this.#insert(freshKey(userId, name, secretExpiryMs, true))
  }

  /**
   * Returns the user's newest valid key, or creates one for two years. If several nodes ask at once, one of them
   * creates it.
   *
   * @returns the secret if this call created the key; otherwise null, because a secret is only shown once
   */
  async ensure(userId: string, name: string): Promise<ApiKey & { readonly clientSecret: string | null }> {
    const { record, clientSecret } = freshKey(userId, name, secretExpiryMs, true)
    const key = await this.#records.addUnlessGood(record)
    return { ...shown(key), clientSecret: key.clientId === record.clientId ? clientSecret : null }
  }

  /**
   * Creates a key of this process for itself. Lists do not show it. The key stays valid until it is forgotten: if a
   * suspended machine lets it expire, its next use renews it. Other nodes see it expire on time.
   */
  async createPassing(userId: string, name: string, lifetimeMs: number): Promise<NewApiKey> {
    const fresh = freshKey(userId, name, (createdMs) => createdMs + lifetimeMs, false)
    const key = await this.#insert(fresh)
    this.#own.set(key.clientId, { record: fresh.record, lifetimeMs })
    return key
  }

  /** Renews all keys of this process by their lifetime. */
  async renewOwn(): Promise<void> {
    await Promise.all([...this.#own.keys()].map((clientId) => this.#renewed(clientId)))
  }

  /** Keys that people created, oldest first. */
  async list(): Promise<ApiKey[]> {
    return (await this.#records.list()).map(shown)
  }

  /**
   * Gives the key a new secret that is valid for two years. Refuses the old secret and all tokens it obtained from now
   * on: regenerating a revoked key must not revive its old tokens.
   */
  async regenerate(clientId: string): Promise<NewApiKey> {
    const clientSecret = freshSecret()
    const key = await this.#known(clientId)
    // Always later than the previous secret, even if the clock was set back: tokens are compared by this time.
    const createdMs = Math.max(Date.now(), key.createdMs + 1)
    const renewed = { createdMs, expiresMs: secretExpiryMs(createdMs), revokedMs: null }
    await this.#records.change(clientId, { ...renewed, secretHash: hashSecret(clientSecret) })
    return { ...shown(key), ...renewed, clientSecret }
  }

  /** Revokes the key and all of its tokens at once. */
  async revoke(clientId: string): Promise<ApiKey> {
    const key = await this.#known(clientId)
    const revokedMs = key.revokedMs ?? Date.now()
    await this.#records.change(clientId, { revokedMs })
    return { ...shown(key), revokedMs }
  }

  /** Removes all keys of this process, which ends. */
  async forgetOwn(): Promise<void> {
    const clientIds = [...this.#own.keys()]
    this.#own.clear()
    await Promise.all(clientIds.map((clientId) => this.#records.forget(clientId)))
  }

  /** The key, if these credentials are valid now. */
  async authenticate(clientId: string, clientSecret: string): Promise<ApiKey | undefined> {
    const key = await this.#found(clientId)
    // Unknown ids are compared too, so that the response time does not reveal which ids exist.
    const matches = isSameSecret(hashSecret(clientSecret), key?.secretHash ?? '')
    return key && matches ? usable(key) : undefined
  }

  /** The key of a token, if it is still valid. */
  async active(clientId: string): Promise<ApiKey | undefined> {
    const key = await this.#found(clientId)
    return key && usable(key)
  }

  async #found(clientId: string): Promise<KeyRecord | undefined> {
    const key = await this.#records.get(clientId)
    const hasEnded = !key || (key.revokedMs === null && key.expiresMs <= Date.now())
    return hasEnded && this.#own.has(clientId) ? this.#renewed(clientId) : key
  }

  /** Renews a key. If a sweep has removed it since it expired, the key is added again. */
  async #renewed(clientId: string): Promise<KeyRecord | undefined> {
    const own = this.#own.get(clientId)
    if (!own) return undefined
    const expiresMs = Date.now() + own.lifetimeMs
    return this.#records.put({ ...own.record, expiresMs })
  }

  async #insert({ record, clientSecret }: ReturnType<typeof freshKey>): Promise<NewApiKey> {
    await this.#records.add(record)
    return { ...shown(record), clientSecret }
  }

  async #known(clientId: string): Promise<KeyRecord> {
    const key = await this.#records.get(clientId)
    if (key) return key
    throw new UsageError('ERR_KEY_UNKNOWN', `No API key has the client id ${clientId}.`, {
      remedies: ['List the keys with the --data of the service: voxmux portal keys list --data DIR'],
    })
  }
}

/** A key that is not stored yet, and its secret. */
function freshKey(userId: string, name: string, expiryOf: (createdMs: number) => number, isLasting: boolean) {
  const clientSecret = freshSecret()
  // Both from one look at the clock: a secret that expires a millisecond late is not two years old.
  const createdMs = Date.now()
  const times = { createdMs, expiresMs: expiryOf(createdMs), revokedMs: null }
  const record = { clientId: randomUUID(), userId, name, ...times, secretHash: hashSecret(clientSecret), isLasting }
  return { record, clientSecret }
}

/** 256 bits of randomness. */
function freshSecret(): string {
  return `vxm_${randomBytes(32).toString('base64url')}`
}

/**
 * Uses SHA-256 instead of scrypt: the secret has 256 random bits, so a dictionary attack is impossible. A slow hash
 * would let anybody overload the token endpoint with guesses.
 */
function hashSecret(secret: string): string {
  return createHash('sha256').update(secret).digest('hex')
}

function usable(key: KeyRecord): ApiKey | undefined {
  return key.revokedMs === null && key.expiresMs > Date.now() ? shown(key) : undefined
}

function shown({ clientId, userId, name, createdMs, expiresMs, revokedMs }: KeyRecord): ApiKey {
  return { clientId, userId, name, createdMs, expiresMs, revokedMs }
}
