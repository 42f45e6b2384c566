import { readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { UsageError, VerificationError } from '../../core/errors.js'
import { fileSha256 } from '../../core/file-identity.js'
import { readPlainFile } from '../../core/read-plain-file.js'
import { type CredentialsFound, readCredentials } from '../../credentials/index.js'
import { probe } from '../../media/index.js'
import type { Receipt } from '../output/receipt.js'
import { sidecarPath } from '../plan/output-path.js'

export interface ProveSignatureOptions {
  /** The file from which the output was made. */
  readonly input?: string | undefined
  /** PEM file of the authorities that are trusted; undefined: the signer is not judged. */
  readonly trust?: string | undefined
  readonly signal?: AbortSignal | undefined
}

/** The facts that the Content Credentials of a file establish. */
export interface SignatureProof {
  /** Null if there are none, or if they could not be read. */
  readonly found: CredentialsFound | null
  /** True if a named input is the one that was signed; null if that is not known. */
  readonly isInputSame: boolean | null
  /** Facts that could not be established, as sentences. */
  readonly unknown: readonly string[]
}

/**
 * Reads the Content Credentials of a file or of its sidecar, offline. Without the package for them, that is a fact that
 * could not be established, unless a trust list was named.
 *
 * @throws {UsageError} `ERR_CREDENTIALS_PACKAGE`, `ERR_TRUST_LIST`
 */
export async function proveSignature(output: string, options: ProveSignatureOptions): Promise<SignatureProof> {
  const { input, signal } = options
  const trust = options.trust === undefined ? undefined : await readTrust(options.trust)
  const sidecar = await readPlainFile(sidecarPath(output)).catch(() => undefined)
  const container = await probe(output, { signal }).then(
    (media) => media.container,
    () => extname(output).slice(1).toLowerCase(),
  )
  try {
    const found = await readCredentials(output, container, { sidecar, trust })
    const signed = inputSha256(found?.assertion)
    const isInputSame = input === undefined || signed === null ? null : (await fileSha256(input, signal)) === signed
    const isJudged = found?.state !== 'valid' || trust !== undefined
    return { found, isInputSame, unknown: isJudged ? [] : ['voxmux does not judge the signer without --trust FILE.'] }
  } catch (error) {
    if (!(error instanceof UsageError) || trust !== undefined) throw error
    const [install, ...more] = error.remedies
    const how = [`To install it, run \`${install}\`.`, ...more].join(' ')
    const unknown = [`No signature was looked for: ${error.message} ${how}`]
    return { found: null, isInputSame: null, unknown }
  }
}

/** The proof beside a receipt: a file that was published unsigned lacks nothing, and a signed one its signature. */
export function besideReceipt(proof: SignatureProof, { credentials }: Pick<Receipt, 'credentials'>): SignatureProof {
  if (proof.found !== null) return proof
  if (credentials === null) return { ...proof, unknown: [] }
  const gone = 'The Content Credentials that the receipt names are not there.'
  return proof.unknown.length > 0 ? proof : { ...proof, unknown: [gone] }
}

/** The fault that a signature shows; undefined if there is none. `isTrustAsked`: only a trusted signer will do. */
export function signatureFault(
  output: string,
  { found, isInputSame }: SignatureProof,
  isTrustAsked: boolean,
): VerificationError | undefined {
  const fault = (code: `ERR_${string}`, message: string, remedy: string) =>
    new VerificationError(code, `${output} ${message}.`, { input: output, remedies: [remedy] })
  if (found?.state === 'invalid') {
    const codes = found.failures.join(', ') || 'their manifest is broken'
    const what = `was changed after it was signed, or its Content Credentials were: ${codes}`
    return fault(
      'ERR_SIGNATURE_INVALID',
      what,
      'Restore the file with its sidecar from a copy, or regenerate the input.',
    )
  }
  if (isTrustAsked && found === null) {
    return fault(
      'ERR_SIGNATURE_MISSING',
      'has no Content Credentials',
      'Leave --trust out to verify it by its receipt.',
    )
  }
  if (isTrustAsked && found?.state === 'valid') {
    const what = `was signed by ${found.signer}, whose authority is not in the trust list`
    return fault(
      'ERR_SIGNATURE_UNTRUSTED',
      what,
      'Ask the sender for the certificate of the authority, through another channel.',
    )
  }
  if (isInputSame === false) {
    return fault('ERR_INPUT_DIFFERS', 'was not made from the named input', 'Name the input that its signature states.')
  }
  return undefined
}

async function readTrust(path: string): Promise<string> {
  const pem = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw trustFault(path, 'cannot be read', cause)
  })
  if (!pem.includes('-----BEGIN CERTIFICATE-----')) throw trustFault(path, 'holds no certificate in PEM')
  return pem
}

function trustFault(path: string, what: string, cause?: unknown): UsageError {
  return new UsageError('ERR_TRUST_LIST', `The trust list ${path} ${what}.`, {
    cause,
    input: path,
    remedies: ['Name a PEM file with the certificates of the authorities that you trust.'],
  })
}

/** The input's SHA-256 in voxmux's assertion; null if another program signed. */
function inputSha256(assertion: unknown): string | null {
  const { input } = (assertion ?? {}) as { readonly input?: { readonly sha256?: unknown } }
  return typeof input?.sha256 === 'string' ? input.sha256 : null
}
