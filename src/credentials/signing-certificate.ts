import { X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { UsageError } from '../core/errors.js'
import type { SigningAlgorithm } from './c2pa-package.js'

/** The certificate that signs, with the algorithm of its key. */
export interface SigningCertificate {
  /** The whole chain as PEM, leaf first. */
  readonly chain: Buffer
  readonly leaf: X509Certificate
  readonly algorithm: SigningAlgorithm
}

const OF_CURVE: Readonly<Record<string, SigningAlgorithm>> = {
  prime256v1: 'es256',
  secp384r1: 'es384',
  secp521r1: 'es512',
}

/**
 * Reads the signing certificate and its chain.
 *
 * @throws {UsageError} `ERR_CREDENTIALS_CERT` if it cannot be read, is not valid today or has an unsuitable key
 */
export async function readSigningCertificate(path: string): Promise<SigningCertificate> {
  const fault = (what: string, cause?: unknown) =>
    new UsageError('ERR_CREDENTIALS_CERT', `The signing certificate ${path} ${what}.`, {
      cause,
      remedies: ['Correct `credentials.cert`: a PEM file with a valid certificate for C2PA, the leaf first.'],
    })
  const chain = await readFile(path).catch((cause: unknown) => {
    throw fault('cannot be read', cause)
  })
  const leaf = parsed(chain)
  if (!leaf) throw fault('is not a certificate in PEM')
  const now = new Date()
  if (now < new Date(leaf.validFrom)) throw fault(`is not valid before ${leaf.validFrom}`)
  if (now > new Date(leaf.validTo)) throw fault(`expired on ${leaf.validTo}`)
  const algorithm = algorithmOf(leaf)
  if (!algorithm) throw fault('has a key that C2PA does not use (it takes P-256, P-384, P-521, Ed25519 and RSA)')
  return { chain, leaf, algorithm }
}

function parsed(pem: Buffer): X509Certificate | undefined {
  try {
    return new X509Certificate(pem)
  } catch {
    return undefined
  }
}

function algorithmOf({ publicKey }: X509Certificate): SigningAlgorithm | undefined {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = publicKey
  switch (type) {
    case 'ed25519':
      return 'ed25519'
    case 'rsa':
    case 'rsa-pss':
      return 'ps256'
    case 'ec':
      return OF_CURVE[details?.namedCurve ?? '']
    default:
      return undefined
  }
}
