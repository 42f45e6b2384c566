import { constants, type KeyObject, type SignKeyObjectInput, sign, verify } from 'node:crypto'
import type { SigningAlgorithm } from './c2pa-package.js'

const HASHES = { es256: 'sha256', es384: 'sha384', es512: 'sha512', ps256: 'sha256', ed25519: null } as const
/** Bytes of r and of s. */
const HALF_BYTES: Partial<Record<SigningAlgorithm, number>> = { es256: 32, es384: 48, es512: 66 }

/** Signs as COSE wants it: r and s without DER, PSS with a salt as long as the hash. */
export function signBytes(bytes: Buffer, key: KeyObject, algorithm: SigningAlgorithm): Buffer {
  return sign(HASHES[algorithm], bytes, keyInput(key, algorithm))
}

/**
 * Converts the signature of another program for COSE. Null if this key did not make it.
 *
 * @param signature of ECDSA: DER, as `openssl` writes it, or r and s, as `pkcs11-tool` does
 */
export function acceptSignature(
  signature: Buffer,
  bytes: Buffer,
  key: KeyObject,
  algorithm: SigningAlgorithm,
): Buffer | null {
  const half = HALF_BYTES[algorithm]
  const plain = half === undefined || signature.length === 2 * half ? signature : plainOfDer(signature, half)
  return plain && verify(HASHES[algorithm], bytes, keyInput(key, algorithm), plain) ? plain : null
}

function keyInput(key: KeyObject, algorithm: SigningAlgorithm): SignKeyObjectInput {
  if (algorithm === 'ps256') return { key, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 }
  return { key, dsaEncoding: 'ieee-p1363' }
}

/** r and s of a DER sequence of two integers. */
function plainOfDer(der: Buffer, half: number): Buffer | null {
  // A length above 127 takes a byte of its own before it.
  let at = der[1] === 0x81 ? 3 : 2
  const numbers: Buffer[] = []
  for (const _ of 'rs') {
    const length = der[at + 1] ?? 0
    const digits = der.subarray(at + 2, at + 2 + length)
    const value = digits.subarray(Math.max(0, digits.length - half))
    if (der[at] !== 2 || digits.length !== length) return null
    numbers.push(Buffer.concat([Buffer.alloc(half - value.length), value]))
    at += 2 + length
  }
  return Buffer.concat(numbers)
}
