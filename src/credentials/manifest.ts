import { basename } from 'node:path'
import type { CredentialsSettings } from '../config/index.js'
import { voxmuxVersion } from '../core/package-folder.js'

/** Facts about an output that its Content Credentials state. */
export interface SignedFacts {
  readonly output: string
  readonly sourceType: NonNullable<CredentialsSettings['sourceType']>
  /** Name and SHA-256 of the input; null if voxmux never had it. */
  readonly input: { readonly name: string; readonly sha256: string | null }
  readonly recipeHash: string
  readonly preset: string
  readonly model: string
  /** The parts that were replaced, in seconds from the start of the file. */
  readonly segments: readonly { readonly startSec: number; readonly endSec: number }[]
  /** The tracks that hold them. `channels`: null for all of a track's. */
  readonly tracks: readonly { readonly audioIndex: number; readonly channels: readonly number[] | null }[]
}

/** Label of voxmux's own assertion. */
export const ASSERTION = 'org.voxmux.regeneration'

const SOURCE_TYPES = 'http://cv.iptc.org/newscodes/digitalsourcetype/'

/** The definition of a manifest, without its ingredient. */
export function manifestDefinition(output: string, mimeType: string) {
  return {
    claim_generator_info: [{ name: 'voxmux', version: voxmuxVersion() }],
    title: basename(output),
    format: mimeType,
    assertions: [],
  }
}

/** The action of a regeneration. C2PA puts its own `c2pa.opened` for the ingredient before it. */
export function editAction({ sourceType, model, segments }: SignedFacts) {
  return {
    action: 'c2pa.edited',
    digitalSourceType: `${SOURCE_TYPES}${sourceType}`,
    softwareAgent: { name: 'voxmux', version: voxmuxVersion() },
    description: 'The voice was regenerated. Picture and all other streams are those of the parent.',
    parameters: { 'org.voxmux.model': model },
    changes: segments.map(({ startSec, endSec }) => ({
      region: [{ type: 'temporal', time: { type: 'npt', start: String(startSec), end: String(endSec) } }],
    })),
  }
}

/** The facts of the receipt that do not depend on the signature. */
export function ownAssertion({ input, recipeHash, preset, model, segments, tracks }: SignedFacts) {
  return { schemaVersion: 1, input, recipeHash, preset, model, segments, tracks }
}
