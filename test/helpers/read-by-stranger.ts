import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { describe } from 'vitest'

/** What a validator says of a file. */
export interface StrangersView {
  readonly state: string
  readonly failures: readonly string[]
  readonly manifest: {
    readonly assertions: readonly { readonly label: string; readonly data: unknown }[]
    readonly ingredients: readonly Record<string, unknown>[]
  }
}

const WASM: string = '@contentauth/c2pa-wasm'

/** A suite that needs both packages for Content Credentials, which .ci/run installs beside the dependencies. */
export function describeWithC2pa(name: string, suite: () => void): void {
  if (!hasC2pa()) process.stderr.write(`Skipped: ${name}: @contentauth/c2pa-node or c2pa-wasm is not installed\n`)
  describe.skipIf(!hasC2pa())(name, suite)
}

function hasC2pa(): boolean {
  const { resolve } = createRequire(import.meta.url)
  try {
    return [`${WASM}/package.json`, '@contentauth/c2pa-node/package.json'].every((name) => resolve(name) !== '')
  } catch {
    return false
  }
}

interface WasmPackage {
  initSync(options: { readonly module: Buffer }): void
  readonly WasmReader: {
    fromBytes(type: string, bytes: Uint8Array, settings: string): Promise<{ json(): string }>
  }
}

/** Validates a file with the reader for browsers, which shares no binary with the signer. */
export async function readByStranger(path: string, mimeType: string, trust: string): Promise<StrangersView> {
  const wasm = (await import(WASM)) as WasmPackage
  wasm.initSync({ module: readFileSync(createRequire(import.meta.url).resolve(`${WASM}/c2pa.wasm`)) })
  const settings = { verify: { verify_trust: true }, trust: { user_anchors: trust, trust_config: '1.3.6.1.5.5.7.3.4' } }
  const reader = await wasm.WasmReader.fromBytes(mimeType, readFileSync(path), JSON.stringify(settings))
  const store = JSON.parse(reader.json())
  return {
    state: store.validation_state,
    failures: (store.validation_status ?? []).map(({ code }: { readonly code: string }) => code),
    manifest: store.manifests[store.active_manifest],
  }
}
