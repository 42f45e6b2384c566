import { createHash, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto'
import { UsageError } from '../../core/errors.js'
import type { ApiKey, KeyRecord, KeyRecords } from '../store/key-records.js'

/** A key at the one moment at which its secret is known. */
export interface NewApiKey extends ApiKey {
  readonly clientSecret: string
}

/** The interface: a secret expires after 2 years. */
const SECRET_LIFETIME_MS = 2 * 365 * 24 * 3600_000

/** The API keys of a service's users. */
export class ApiKeys {
  constructor(private readonly records: KeyRecords) {}

  /** A key of two years. */
  create(userId: string, name: string): Promise<NewApiKey> {
    return this.insert(userId, name, SECRET_LIFETIME_MS, true)
  }

  /**
   * The newest of a user's keys that is good, or one of two years where there is none. Of several nodes that ask at once
   * one makes it.
   *
   * @returns the secret where this call made the key; null where it was shown before, and is not known any more
   */
  async ensure(userId: string, name: string): Promise<ApiKey & { readonly clientSecret: string | null }> {
    const { record, clientSecret } = freshKey(userId, name, SECRET_LIFETIME_MS, true)
    const key = await this.records.addUnlessGood(record)
    return { ...shown(key), clientSecret: key.clientId === record.clientId ? clientSecret : null }
  }

  /** A key of a process for itself, which renews it while it runs; people do not see it. */
  createPassing(userId: string, name: string, lifetimeMs: number): Promise<NewApiKey> {
    return this.insert(userId, name, lifetimeMs, false)
  }

  /** The keys that people made, oldest first. */
  async list(): Promise<ApiKey[]> {
    return (await this.records.list()).map(shown)
  }

  /** Gives the key a new secret, good for two years; the old one is refused from now on. */
  async regenerate(clientId: string): Promise<NewApiKey> {
    const clientSecret = freshSecret()
    const key = await this.known(clientId)
    const [createdMs, expiresMs] = [Date.now(), Date.now() + SECRET_LIFETIME_MS]
    const renewed = { createdMs, expiresMs, revokedMs: null }
    await this.records.change(clientId, { ...renewed, secretHash: hashSecret(clientSecret) })
    return { ...shown(key), ...renewed, clientSecret }
  }

  /** From now on neither the key nor the tokens it got are good. */
  async revoke(clientId: string): Promise<ApiKey> {
    const key = await this.known(clientId)
    const revokedMs = key.revokedMs ?? Date.now()
    await this.records.change(clientId, { revokedMs })
    return { ...shown(key), revokedMs }
  }

  /** Moves the end of a key that is not revoked. */
  extend(clientId: string, expiresMs: number): Promise<void> {
    return this.records.change(clientId, { expiresMs })
  }

  /** Removes a key that nobody will need again: that of a process which ends. */
  forget(clientId: string): Promise<void> {
    return this.records.forget(clientId)
  }

  /** The key, if these credentials open it now. */
  async authenticate(clientId: string, clientSecret: string): Promise<ApiKey | undefined> {
    const key = await this.records.get(clientId)
    // The comparison is made for an unknown id too, so that time does not tell which ids there are.
    const stored = Buffer.from(key?.secretHash ?? hashSecret(''), 'hex')
    const matches = timingSafeEqual(stored, Buffer.from(hashSecret(clientSecret), 'hex'))
    return key && matches ? usable(key) : undefined
  }

  /** The key behind a token, if it is still good. */
  async active(clientId: string): Promise<ApiKey | undefined> {
    const key = await this.records.get(clientId)
    return key && usable(key)
  }

  private async insert(userId: string, name: string, lifetimeMs: number, isLasting: boolean): Promise<NewApiKey> {
    const { record, clientSecret } = freshKey(userId, name, lifetimeMs, isLasting)
    await this.records.add(record)
    return { ...shown(record), clientSecret }
  }

  private async known(clientId: string): Promise<KeyRecord> {
    const key = await this.records.get(clientId)
    if (key) return key
    throw new UsageError('ERR_KEY_UNKNOWN', `There is no API key with the client id ${clientId}.`, {
      remedies: ['See which there are: voxmux portal keys list'],
    })
  }
}

function freshKey(userId: string, name: string, lifetimeMs: number, isLasting: boolean) {
  const clientSecret = freshSecret()
  const createdMs = Date.now()
  const times = { createdMs, expiresMs: createdMs + lifetimeMs, revokedMs: null }
  const record = { clientId: randomUUID(), userId, name, ...times, secretHash: hashSecret(clientSecret), isLasting }
  return { record, clientSecret }
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

function usable(key: KeyRecord): ApiKey | undefined {
  return key.revokedMs === null && key.expiresMs > Date.now() ? shown(key) : undefined
}

function shown({ clientId, userId, name, createdMs, expiresMs, revokedMs }: KeyRecord): ApiKey {
  return { clientId, userId, name, createdMs, expiresMs, revokedMs }
}
