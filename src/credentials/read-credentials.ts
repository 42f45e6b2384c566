import { basename } from 'node:path'
import { thrownMessage } from '../core/errors.js'
import { loadC2pa, OFFLINE } from './c2pa-package.js'
import { readingType } from './carrier.js'
import { ASSERTION } from './manifest.js'

/** Content Credentials as a reader found them. */
export interface CredentialsFound {
  /**
   * - `trusted`: unchanged, and the trust list has the signer.
   * - `valid`: unchanged, without such a list or not in it.
   * - `invalid`: the file or its manifest was changed.
   */
  readonly state: 'trusted' | 'valid' | 'invalid'
  /** Name in the signing certificate; null if it cannot be read. */
  readonly signer: string | null
  /** Program that made the manifest. */
  readonly generator: string | null
  /** Time of an RFC 3161 time stamp; null without one. */
  readonly signedAt: string | null
  /** Codes of C2PA for what is wrong. */
  readonly failures: readonly string[]
  /** Facts of voxmux's own assertion; null if another program signed. */
  readonly assertion: unknown
  /** Names of the files it was made from. */
  readonly parents: readonly string[]
}

/** The part of a manifest store that voxmux reads. */
interface ManifestStore {
  readonly active_manifest?: string
  readonly manifests?: Readonly<Record<string, Manifest>>
  readonly validation_results?: { readonly activeManifest?: ManifestResults }
}

interface ManifestResults {
  readonly success?: readonly { readonly code: string }[]
  readonly failure?: readonly { readonly code: string }[]
}

interface Manifest {
  readonly claim_generator_info?: readonly { readonly name?: string; readonly version?: string }[]
  readonly signature_info?: { readonly issuer?: string; readonly common_name?: string; readonly time?: string }
  readonly assertions?: readonly { readonly label: string; readonly data?: unknown }[]
  readonly ingredients?: readonly { readonly title?: string; readonly relationship?: string }[]
}

interface ReadCredentialsOptions {
  /** The manifest, if it is not in the file. */
  readonly sidecar?: Buffer | undefined
  /** PEM certificates of the trusted authorities. */
  readonly trust?: string | undefined
}

/** Key usages of signers that C2PA accepts: e-mail protection, document signing, and its own. */
const USAGES = ['1.3.6.1.5.5.7.3.4', '1.3.6.1.5.5.7.3.36', '1.3.6.1.4.1.62558.2.1'].join('\n')

/**
 * Reads and validates the Content Credentials of a file, offline. Null if it has none that the package finds.
 *
 * @throws {UsageError} `ERR_CREDENTIALS_PACKAGE`
 */
export async function readCredentials(
  path: string,
  container: string,
  { sidecar, trust }: ReadCredentialsOptions = {},
): Promise<CredentialsFound | null> {
  const { Reader } = await loadC2pa()
  const asset = { path, mimeType: readingType(container) }
  const settings = {
    verify: { ...OFFLINE, verify_trust: trust !== undefined },
    ...(trust !== undefined && { trust: { user_anchors: trust, trust_config: USAGES } }),
  }
  try {
    const reader = sidecar
      ? await Reader.fromManifestDataAndAsset(sidecar, asset, settings)
      : await Reader.fromAsset(asset, settings)
    return reader === null ? null : found(reader.json() as ManifestStore)
  } catch (error) {
    const said = thrownMessage(error)
    // Thrown for a file without a manifest, and for a kind of file in which none can be.
    if (/no JUMBF data found|type is unsupported|Invalid RIFF|ManifestNotFound|not found/i.test(said)) return null
    return { ...NOTHING, state: 'invalid', failures: [said] }
  }
}

const NOTHING = { signer: null, generator: null, signedAt: null, assertion: null, parents: [] }

function found(store: ManifestStore): CredentialsFound {
  const manifest = store.manifests?.[store.active_manifest ?? '']
  const { issuer, common_name: name, time } = manifest?.signature_info ?? {}
  const [generator] = manifest?.claim_generator_info ?? []
  // The state of the whole store counts what happened to its ingredients, such as a certificate that expired since.
  const results = store.validation_results?.activeManifest
  // An unknown signer does not change the file: the state says it.
  const failures = results?.failure?.flatMap(({ code }) => (code === 'signingCredential.untrusted' ? [] : [code])) ?? []
  const isTrusted = results?.success?.some(({ code }) => code === 'signingCredential.trusted')
  const unchanged = isTrusted ? ('trusted' as const) : ('valid' as const)
  const state = manifest && results && failures.length === 0 ? unchanged : ('invalid' as const)
  return {
    state,
    signer: [name, issuer].filter((part) => part !== undefined).join(', ') || null,
    generator: [generator?.name, generator?.version].filter((part) => part !== undefined).join(' ') || null,
    signedAt: time ?? null,
    failures,
    assertion: manifest?.assertions?.find(({ label }) => label.startsWith(ASSERTION))?.data ?? null,
    parents: (manifest?.ingredients ?? []).flatMap(({ title, relationship }) =>
      relationship === 'parentOf' && title !== undefined ? [basename(title)] : [],
    ),
  }
}
