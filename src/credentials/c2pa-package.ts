import { packageMissing } from '../core/optional-package.js'

/** A file as the package names it. */
export interface Asset {
  readonly path: string
  readonly mimeType: string
}

/** Bytes as the package names them. */
interface BufferAsset {
  readonly buffer: Buffer | null
  readonly mimeType?: string
}

/** The signature algorithms of C2PA for keys that voxmux uses. */
export type SigningAlgorithm = 'es256' | 'es384' | 'es512' | 'ps256' | 'ed25519'

interface Signer {
  getHandle(): unknown
}

interface Builder {
  setIntent(intent: 'edit'): void
  setNoEmbed(isSidecar: boolean): void
  addAction(json: string): void
  addAssertion(label: string, json: string, kind: 'Json'): void
  addIngredient(json: string, asset?: Asset): Promise<void>
  /** @returns the manifest store */
  signAsync(signer: Signer, input: Asset | BufferAsset, output: Asset | BufferAsset): Promise<Buffer>
}

interface Reader {
  json(): unknown
}

/** The part of `@contentauth/c2pa-node` that voxmux uses. Its own types are absent if it is not installed. */
export interface C2paPackage {
  readonly Builder: { withJson(definition: object, settings: object): Builder }
  readonly CallbackSigner: {
    newSigner(
      config: {
        readonly alg: SigningAlgorithm
        readonly certs: readonly Buffer[]
        readonly reserveSize: number
        readonly tsaUrl?: string | undefined
        readonly directCoseHandling: false
      },
      sign: (bytes: Buffer) => Promise<Buffer>,
    ): Signer
  }
  readonly Reader: {
    fromAsset(asset: Asset | BufferAsset, settings: object): Promise<Reader | null>
    fromManifestDataAndAsset(manifest: Buffer, asset: Asset | BufferAsset, settings: object): Promise<Reader>
  }
}

const NAME: string = '@contentauth/c2pa-node'

/** The version that works on Node 20 and carries its binary, so that it installs without a download. */
const INSTALLABLE = `${NAME}@0.5.5`

/** Settings of every call: offline. A file could name an address from which to fetch its manifest. */
export const OFFLINE = { remote_manifest_fetch: false, ocsp_fetch: false } as const

/** Loads the optional package for Content Credentials. @throws {UsageError} `ERR_CREDENTIALS_PACKAGE` */
export function loadC2pa(load: () => Promise<C2paPackage> = () => import(NAME)): Promise<C2paPackage> {
  return load().catch(
    packageMissing('ERR_CREDENTIALS_PACKAGE', 'Content Credentials (C2PA) need', INSTALLABLE, [
      'On Linux the package holds its binary: set SKIP_BINARY_DOWNLOAD=1 and SKIP_RUST_BUILD=1 to install it offline.',
    ]),
  )
}
