import { spawn } from 'node:child_process'
import {
  constants,
  createPrivateKey,
  type KeyObject,
  randomBytes,
  type SignKeyObjectInput,
  sign,
  verify,
} from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { CredentialsSettings } from '../config/index.js'
import { thrownMessage, UsageError } from '../core/errors.js'
import type { SigningAlgorithm } from './c2pa-package.js'
import type { SigningCertificate } from './signing-certificate.js'

const LIMIT_MS = 60_000
const MOST_BYTES = 64 * 1024

/** Signs bytes as COSE wants it. @throws Error if the command of the key fails */
export type SignBytes = (bytes: Buffer) => Promise<Buffer>

const SOURCES = ['key', 'keyVariable', 'keyCommand'] as const

/**
 * Opens the private key of a certificate, and proves with a trial that it is its key. No message holds anything of the
 * key, nor of the words of a library that read it.
 *
 * @throws {UsageError} `ERR_CREDENTIALS_KEY`
 */
export async function openSigningKey(
  settings: CredentialsSettings,
  { leaf, algorithm }: SigningCertificate,
): Promise<SignBytes> {
  const given = SOURCES.filter((name) => settings[name] !== undefined)
  if (given.length !== 1) throw keyFault(`Name one of ${SOURCES.join(', ')}: ${given.length} are set`)
  const { keyCommand } = settings
  const key = keyCommand ? null : await readKey(settings)
  const signOnce = async (bytes: Buffer) =>
    key ? sign(HASHES[algorithm], bytes, keyInput(key, algorithm)) : runKeyCommand(keyCommand ?? [], bytes)
  const signed: SignBytes = async (bytes) => {
    const signature = acceptSignature(await signOnce(bytes), bytes, leaf.publicKey, algorithm)
    if (!signature) throw new Error(`the signature is not one of the key of ${settings.cert}`)
    return signature
  }
  await signed(randomBytes(32)).catch((cause: unknown) => {
    throw keyFault(`A trial failed: ${thrownMessage(cause)}`)
  })
  return signed
}

async function readKey({ key: path, keyVariable = '' }: CredentialsSettings): Promise<KeyObject> {
  const where = path === undefined ? `The variable ${keyVariable}` : `The key file ${path}`
  const pem =
    path === undefined
      ? process.env[keyVariable]
      : await readFile(path, 'utf8').catch(({ code }: NodeJS.ErrnoException) => {
          throw keyFault(`${where} cannot be read (${code})`)
        })
  if (!pem) throw keyFault(`${where} is empty or not set`)
  try {
    return createPrivateKey(pem)
  } catch {
    throw keyFault(`${where} is not a private key in PEM without a passphrase`)
  }
}

function keyFault(what: string): UsageError {
  return new UsageError('ERR_CREDENTIALS_KEY', `The key for Content Credentials cannot be used. ${what}.`, {
    remedies: ['Correct `credentials` in the configuration: the key must be that of `credentials.cert`.'],
  })
}

/**
 * Has a program sign bytes: from its standard input to its standard output, without a shell. It inherits the
 * environment, in which a token's PIN belongs. The program's own words are dropped, because they may hold a secret.
 *
 * @throws Error that names the program and how it ended
 */
function runKeyCommand([program = '', ...args]: readonly string[], bytes: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'ignore'], windowsHide: true, timeout: LIMIT_MS })
    const read: Buffer[] = []
    let length = 0
    child.stdout.on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length > MOST_BYTES) child.kill()
      else read.push(chunk)
    })
    child.once('error', ({ code }: NodeJS.ErrnoException) =>
      reject(new Error(`${program} cannot be started (${code})`)),
    )
    child.once('close', (code, killed) => {
      if (code === 0) resolve(Buffer.concat(read))
      else reject(new Error(`${program} ended with ${killed ?? `exit code ${code}`}`))
    })
    // A program that ends early is judged by its exit code.
    child.stdin.on('error', () => {})
    child.stdin.end(bytes)
  })
}

const HASHES = { es256: 'sha256', es384: 'sha384', es512: 'sha512', ps256: 'sha256', ed25519: null } as const
/** Bytes of r and of s. */
const HALF_BYTES: Partial<Record<SigningAlgorithm, number>> = { es256: 32, es384: 48, es512: 66 }

/**
 * Converts the signature of another program for COSE. Null if this key did not make it.
 *
 * @param signature of ECDSA: DER, as `openssl` writes it, or r and s, as `pkcs11-tool` does
 */
function acceptSignature(signature: Buffer, bytes: Buffer, key: KeyObject, algorithm: SigningAlgorithm): Buffer | null {
  const half = HALF_BYTES[algorithm]
  const plain = half === undefined || signature.length === 2 * half ? signature : plainOfDer(signature, half)
  return plain && verify(HASHES[algorithm], bytes, keyInput(key, algorithm), plain) ? plain : null
}

/** Signs as COSE wants it: r and s without DER, PSS with a salt as long as the hash. */
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
