import { nearest } from '../config/nearest.js'
import { UsageError } from '../core/errors.js'
import { docsPage } from '../core/package-folder.js'
import type { ExtensionParts } from './extension.js'

const PARTS: readonly (keyof ExtensionParts)[] = ['hooks', 'stop']
const HOOKS: readonly (keyof NonNullable<ExtensionParts['hooks']>)[] = [
  'beforePlan',
  'afterPlan',
  'onProgress',
  'afterPublish',
  'onFailure',
]

/**
 * Validates the result of an extension's `start`. A mistyped hook would never be called, and a file that it should
 * refuse would be paid for. Other properties are ignored.
 *
 * @throws {UsageError} `ERR_EXTENSION_START`
 */
export function requireParts(name: string, returned: unknown): ExtensionParts {
  if (returned === undefined || returned === null) return {}
  const parts = entries(returned)
  const hooks = entries(parts?.hooks ?? {})
  const problem =
    (parts === undefined && 'it returns neither an object nor nothing') ||
    (hooks === undefined && 'its "hooks" is not an object') ||
    unknownName(parts ?? {}, PARTS) ||
    unknownName(hooks ?? {}, HOOKS) ||
    noFunction({ ...hooks, stop: parts?.stop }, [...HOOKS, 'stop'])
  if (!problem) return returned
  throw new UsageError('ERR_EXTENSION_START', `The extension "${name}" cannot be used: ${problem}.`, {
    remedies: [`"start" returns { hooks, stop }; hooks are ${HOOKS.join(', ')}. See ${docsPage('extensions.md')}.`],
  })
}

function entries(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : undefined
}

function unknownName(found: Readonly<Record<string, unknown>>, known: readonly string[]): string | undefined {
  for (const key of Object.keys(found)) {
    const meant = known.includes(key) ? undefined : nearest(key, known)
    if (meant !== undefined) return `it has "${key}" (did you mean "${meant}"?)`
  }
  return undefined
}

function noFunction(found: Readonly<Record<string, unknown>>, names: readonly string[]): string | undefined {
  const wrong = names.find((key) => found[key] !== undefined && found[key] !== null && typeof found[key] !== 'function')
  return wrong && `its "${wrong}" is not a function`
}
