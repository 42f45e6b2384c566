import {
  type CryptoKey,
  calculateJwkThumbprint,
  createLocalJWKSet,
  errors,
  exportJWK,
  generateKeyPair,
  importJWK,
  type JSONWebKeySet,
  type JWK,
  type JWTVerifyGetKey,
} from 'jose'
import { LIMITS } from '../../contract/index.js'
import type { SigningKey, SigningKeyRecords, StoredKey } from '../store/signing-key-records.js'

/** How long a snapshot is used. A rotation by another process becomes visible within this time. */
const FRESH_MS = 2000

/** The stored keys at a time, newest first. */
interface Snapshot {
  readonly keys: readonly StoredKey[]
  readonly published: JSONWebKeySet
  readonly keyOf: ReturnType<typeof createLocalJWKSet>
  readonly readMs: number
}

/** The RS256 keys of the access tokens. One signs; earlier ones stay published until their last token expires. */
export class SigningKeys {
  readonly #records: SigningKeyRecords
  readonly #rotationMs: number
  readonly #imported = new Map<string, CryptoKey>()
  #snapshot: Snapshot | undefined

  constructor(records: SigningKeyRecords, rotationMs: number) {
    this.#records = records
    this.#rotationMs = rotationMs
  }

  /** Returns the signing key, or a new one when the last is older than the rotation time. */
  async current(): Promise<SigningKey> {
    const newest = (await this.#stored()).keys[0]
    if (newest && newest.createdMs > Date.now() - this.#rotationMs) return this.#toKey(newest.kid, newest.jwk)
    return this.rotate(newest?.kid)
  }

  /** Rotates the signing key now; with `insteadOf`, only if that is still the newest. Another node may be faster. */
  async rotate(insteadOf?: string): Promise<SigningKey> {
    const { privateKey } = await generateKeyPair('RS256', { extractable: true, modulusLength: 2048 })
    const jwk = await exportJWK(privateKey)
    const kid = await calculateJwkThumbprint(jwk)
    // A retired key is needed as long as the last token that it signed.
    const signing = await this.#records.add({ kid, jwk }, insteadOf, 2 * LIMITS.accessTokenLifetimeSec * 1000)
    this.#snapshot = undefined
    return this.#toKey(signing.kid, signing.jwk)
  }

  /** Replaces the current signing key. For an operator, when a key may have leaked. */
  async replace(): Promise<SigningKey> {
    return this.rotate((await this.#records.all())[0]?.kid)
  }

  /** The public keys, as the JWKS address returns them. */
  async published(): Promise<JSONWebKeySet> {
    await this.current()
    return (await this.#stored()).published
  }

  /** Finds the public key of a token, even if another process has just rotated to it. */
  readonly keyOf: JWTVerifyGetKey = async (header, token) => {
    try {
      return await (await this.#stored()).keyOf(header, token)
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error
      this.#snapshot = undefined
      return (await this.#stored()).keyOf(header, token)
    }
  }

  async #stored(): Promise<Snapshot> {
    const snapshot = this.#snapshot
    if (snapshot && Date.now() - snapshot.readMs < FRESH_MS) return snapshot
    const keys = await this.#records.all()
    const published = { keys: keys.map(({ kid, jwk }) => publicHalf(kid, jwk)) }
    const fresh = { keys, published, keyOf: createLocalJWKSet(published), readMs: Date.now() }
    this.#snapshot = fresh
    return fresh
  }

  async #toKey(kid: string, jwk: JWK): Promise<SigningKey> {
    const privateKey = this.#imported.get(kid) ?? ((await importJWK(jwk, 'RS256')) as CryptoKey)
    this.#imported.set(kid, privateKey)
    return { kid, privateKey }
  }
}

function publicHalf(kid: string, jwk: JWK): JWK {
  // Lists every field, so that no #field can be published by mistake.
  return { kty: 'RSA', kid, use: 'sig', alg: 'RS256', ...(jwk.n && { n: jwk.n }), ...(jwk.e && { e: jwk.e }) }
}
