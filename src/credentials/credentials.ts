import { randomBytes } from 'node:crypto'
import { rename, rm, writeFile } from 'node:fs/promises'
import { basename } from 'node:path'
import type { CredentialsSettings } from '../config/index.js'
import { TransientError, thrownMessage, UsageError, VoxmuxError } from '../core/errors.js'
import { syncFile } from '../core/sync-folder.js'
import { type Asset, type C2paPackage, loadC2pa, OFFLINE } from './c2pa-package.js'
import { type Carrier, carrierOf, isEmbeddable, readingType } from './carrier.js'
import { ASSERTION, editAction, manifestDefinition, ownAssertion, type SignedFacts } from './manifest.js'
import { differenceOfSigned, isTagged } from './signed-difference.js'
import { readSigningCertificate, type SigningCertificate } from './signing-certificate.js'
import { openSigningKey, type SignBytes } from './signing-key.js'
import { requireTimestampAddress, TIMESTAMP_BYTES, withTimestampRelay } from './timestamp-relay.js'

/** A finished file without a signature. */
interface SignRequest {
  /** The part file. It is replaced by the signed one. */
  readonly path: string
  readonly container: string
  /** Hidden file for a manifest beside the output. */
  readonly sidecarPart: string
  readonly facts: SignedFacts
  /** The file it was made from, and if it has Content Credentials; null if voxmux never had it. */
  readonly parent: { readonly path: string; readonly container: string; readonly isSigned: boolean } | null
  /** `full` also proves that signing changed nothing else. */
  readonly level: 'full' | 'fast'
  readonly signal?: AbortSignal | undefined
}

interface Signed {
  readonly carrier: Carrier['kind']
  readonly signer: string
  readonly sourceType: SignedFacts['sourceType']
  /** Why a file that could hold a manifest has a sidecar; null otherwise. */
  readonly reason: string | null
}

/** Signs outputs with the configured certificate and key. */
export interface Credentials {
  /** The configured type of source; undefined for that of the service. */
  readonly sourceType: CredentialsSettings['sourceType']
  /**
   * Proves that a file could be signed now.
   *
   * @throws {UsageError} `ERR_CREDENTIALS_PACKAGE`, `ERR_CREDENTIALS_CERT`, `ERR_CREDENTIALS_KEY`,
   * `ERR_CREDENTIALS_TIMESTAMP`
   */
  require(): Promise<void>
  /** @throws {TransientError} `ERR_CREDENTIALS_FAILED`, and what {@link require} throws */
  sign(request: SignRequest): Promise<Signed>
}

/** Size above which the package keeps its two copies of a file in the folder for temporary files. */
export const SPOOLED_BYTES = 16 * 1024 ** 2

/** Bytes of a signature besides its certificates and its time stamp. */
const SIGNATURE_BYTES = 4096

/** Opens the credentials of a configuration. Certificate and key are read for each file, so they can be renewed. */
export function openCredentials(settings: CredentialsSettings): Credentials {
  return {
    sourceType: settings.sourceType,
    async require() {
      await requireAccepted(await open(settings))
      await requireTimestampAddress(settings)
    },
    async sign(request) {
      const opened = await open(settings)
      const { path, container, facts } = request
      const carrier = await carrierOf(path, container)
      try {
        const difference = carrier.kind === 'embedded' ? await embed(request, carrier, opened) : null
        const isBeside = carrier.kind === 'sidecar' || difference !== null
        if (isBeside) await signBeside(request, opened)
        return {
          carrier: isBeside ? 'sidecar' : 'embedded',
          signer: opened.certificate.leaf.subject.replaceAll('\n', ', '),
          sourceType: facts.sourceType,
          reason: difference,
        }
      } catch (cause) {
        if (cause instanceof VoxmuxError) throw cause
        throw new TransientError(
          'ERR_CREDENTIALS_FAILED',
          `The Content Credentials of ${facts.output} could not be signed: ${thrownMessage(cause)}.`,
          { cause, input: facts.output, remedies: ['Check the key and the time stamp authority, then run again.'] },
        )
      }
    },
  }
}

interface Opened {
  readonly settings: CredentialsSettings
  readonly c2pa: C2paPackage
  readonly certificate: SigningCertificate
  readonly sign: SignBytes
}

async function open(settings: CredentialsSettings): Promise<Opened> {
  const c2pa = await loadC2pa()
  const certificate = await readSigningCertificate(settings.cert)
  return { settings, c2pa, certificate, sign: await openSigningKey(settings, certificate) }
}

function signerOf({ c2pa, certificate, sign }: Opened, tsaUrl?: string) {
  const { algorithm: alg, chain } = certificate
  const reserveSize = chain.length + SIGNATURE_BYTES + (tsaUrl === undefined ? 0 : TIMESTAMP_BYTES)
  const stamp = tsaUrl === undefined ? {} : { tsaUrl }
  return c2pa.CallbackSigner.newSigner({ alg, certs: [chain], reserveSize, directCoseHandling: false, ...stamp }, sign)
}

/** Signs a few bytes, because only the package knows which certificates C2PA accepts. */
async function requireAccepted(opened: Opened): Promise<void> {
  const fault = await faultOfTrial(opened).catch(thrownMessage)
  if (fault === null) return
  throw new UsageError('ERR_CREDENTIALS_CERT', `C2PA does not accept the signing certificate: ${fault}.`, {
    remedies: [
      'Use a certificate for C2PA: not self-signed, with digitalSignature and e-mail protection or C2PA usage.',
    ],
  })
}

/** The codes of C2PA for what is wrong with a signature; null if nothing is. */
async function faultOfTrial(opened: Opened): Promise<string | null> {
  const { Reader } = opened.c2pa
  const asset = { buffer: randomBytes(64), mimeType: readingType('') }
  const builder = builderFor(opened.c2pa, 'trial', asset.mimeType)
  builder.setNoEmbed(true)
  await builder.addIngredient(JSON.stringify({ title: 'trial', relationship: 'parentOf', format: asset.mimeType }))
  const manifest = await builder.signAsync(signerOf(opened), asset, { buffer: null })
  const reader = await Reader.fromManifestDataAndAsset(manifest, asset, { verify: { ...OFFLINE, verify_trust: false } })
  const { validation_state: state, validation_status: faults } = reader.json() as {
    readonly validation_state?: string
    readonly validation_status?: readonly { readonly code: string }[]
  }
  return state === 'Invalid' ? (faults?.map(({ code }) => code).join(', ') ?? 'unknown') : null
}

function builderFor(c2pa: C2paPackage, output: string, mimeType: string) {
  const settings = {
    ...{ verify: { ...OFFLINE, verify_after_sign: false }, builder: { thumbnail: { enabled: false } } },
    // Larger copies lie in the folder for temporary files, not in memory.
    core: { backing_store_memory_threshold_in_mb: SPOOLED_BYTES / 1024 ** 2 },
  }
  const builder = c2pa.Builder.withJson(manifestDefinition(output, mimeType), settings)
  builder.setIntent('edit')
  return builder
}

/** Writes the signed file in place of the part. @returns why that cannot be; the part then stays as it is */
async function embed(request: SignRequest, { mimeType }: Carrier, opened: Opened): Promise<string | null> {
  const { path, container, level, signal } = request
  const signed = { path: `${path}.signed`, mimeType }
  let isAsked = false
  const sign: SignBytes = (bytes) => {
    isAsked = true
    return opened.sign(bytes)
  }
  try {
    await signInto(request, { ...opened, sign }, { from: { path, mimeType }, to: signed, isEmbedded: true })
    // The package rewrites the whole tag, so a fast verification is not enough.
    const isCompared = level === 'full' || isTagged(container)
    const difference = isCompared ? await differenceOfSigned(path, signed.path, container, signal) : null
    if (difference !== null) return `Embedding would change ${difference}.`
    await rename(signed.path, path)
    await syncFile(path)
    return null
  } catch (error) {
    // Before it asks for a signature, the package reads the file, and it reads fewer than ffmpeg does.
    if (isAsked || error instanceof VoxmuxError) throw error
    return `The package for Content Credentials cannot write into this file: ${thrownMessage(error)}.`
  } finally {
    await rm(signed.path, { force: true })
  }
}

async function signBeside(request: SignRequest, opened: Opened): Promise<void> {
  const { path, sidecarPart } = request
  const mimeType = readingType('')
  // The package wants to write the file as well.
  const copy = `${path}.signed`
  try {
    const assets = { from: { path, mimeType }, to: { path: copy, mimeType }, isEmbedded: false }
    const manifest = await signInto(request, opened, assets)
    await writeFile(sidecarPart, manifest, { flag: 'wx', flush: true })
  } finally {
    await rm(copy, { force: true })
  }
}

async function signInto(
  request: SignRequest,
  opened: Opened,
  { from, to, isEmbedded }: { readonly from: Asset; readonly to: Asset; readonly isEmbedded: boolean },
): Promise<Buffer> {
  const { facts, signal } = request
  const builder = await builderWithParent(request, opened.c2pa, from.mimeType)
  builder.setNoEmbed(!isEmbedded)
  builder.addAction(JSON.stringify(editAction(facts)))
  builder.addAssertion(ASSERTION, JSON.stringify(ownAssertion(facts)), 'Json')
  return withTimestampRelay(opened.settings, signal, (address) =>
    builder.signAsync(signerOf(opened, address), from, to),
  )
}

async function builderWithParent({ facts, parent }: SignRequest, c2pa: C2paPackage, mimeType: string) {
  const ingredient = { title: basename(facts.input.name), relationship: 'parentOf' }
  const format = readingType(parent?.container ?? '')
  // The package fails much later for an RF64 that it reads, so it reads only what has credentials to carry on.
  if (parent?.isSigned && isEmbeddable(parent.container)) {
    const builder = builderFor(c2pa, facts.output, mimeType)
    const asset = { path: parent.path, mimeType: format }
    try {
      await builder.addIngredient(JSON.stringify(ingredient), asset)
      return builder
    } catch {
      // A parent that cannot be read is named without its own credentials.
    }
  }
  const builder = builderFor(c2pa, facts.output, mimeType)
  await builder.addIngredient(JSON.stringify({ ...ingredient, format }))
  return builder
}
