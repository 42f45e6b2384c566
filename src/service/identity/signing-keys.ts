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
import type { SigningKeyRecords, StoredKey } from '../store/signing-key-records.js'

/** A private key and the id under which its public half is published. */
export interface SigningKey {
  readonly kid: string
  readonly privateKey: CryptoKey
}

/** How long what was read is believed: a rotation by another process is seen within this. */
const FRESH_MS = 2000

/** The stored keys, newest first, as they were at a time. */
interface Snapshot {
  readonly keys: readonly StoredKey[]
  readonly published: JSONWebKeySet
  readonly keyOf: ReturnType<typeof createLocalJWKSet>
  readonly readMs: number
}

/** The RS256 keys of the access tokens: one signs, earlier ones stay published until their last token is over. */
export class SigningKeys {
  private readonly imported = new Map<string, CryptoKey>()
  private snapshot: Snapshot | undefined

  constructor(
    private readonly records: SigningKeyRecords,
    private readonly rotationMs: number,
  ) {}

  /** The key to sign with; a new one when the last is older than the rotation time. */
  async current(): Promise<SigningKey> {
    const newest = (await this.stored()).keys[0]
    if (newest && newest.createdMs > Date.now() - this.rotationMs) return this.toKey(newest.kid, newest.jwk)
    return this.rotate(newest?.kid)
  }

  /** Starts to sign with a new key now. `insteadOf`: only if that one is still the newest (another node may be faster). */
  async rotate(insteadOf?: string): Promise<SigningKey> {
    const { privateKey } = await generateKeyPair('RS256', { extractable: true, modulusLength: 2048 })
    const jwk = await exportJWK(privateKey)
    const kid = await calculateJwkThumbprint(jwk)
    // A key that signs no more is needed for as long as the last token signed with it lives.
    const signing = await this.records.add({ kid, jwk }, insteadOf, 2 * LIMITS.accessTokenLifetimeSec * 1000)
    this.snapshot = undefined
    return this.toKey(signing.kid, signing.jwk)
  }

  /** Rotates whichever key signs now: what an operator does when a key may have leaked. */
  async replace(): Promise<SigningKey> {
    return this.rotate((await this.records.all())[0]?.kid)
  }

  /** The public halves, as the JWKS address answers. */
  async published(): Promise<JSONWebKeySet> {
    await this.current()
    return (await this.stored()).published
  }

  /** Finds the public key of a token, also one that another process began to sign with this instant. */
  readonly keyOf: JWTVerifyGetKey = async (header, token) => {
    try {
      return await (await this.stored()).keyOf(header, token)
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error
      this.snapshot = undefined
      return (await this.stored()).keyOf(header, token)
    }
  }

  private async stored(): Promise<Snapshot> {
    const { snapshot } = this
    if (snapshot && Date.now() - snapshot.readMs < FRESH_MS) return snapshot
    const keys = await this.records.all()
    const published = { keys: keys.map(({ kid, jwk }) => publicHalf(kid, jwk)) }
    const fresh = { keys, published, keyOf: createLocalJWKSet(published), readMs: Date.now() }
    this.snapshot = fresh
    return fresh
  }

  private async toKey(kid: string, jwk: JWK): Promise<SigningKey> {
    const privateKey = this.imported.get(kid) ?? ((await importJWK(jwk, 'RS256')) as CryptoKey)
    this.imported.set(kid, privateKey)
    return { kid, privateKey }
  }
}

function publicHalf(kid: string, jwk: JWK): JWK {
  // Named one by one: what is not named cannot be published by mistake.
  return { kty: 'RSA', kid, use: 'sig', alg: 'RS256', ...(jwk.n && { n: jwk.n }), ...(jwk.e && { e: jwk.e }) }
}
