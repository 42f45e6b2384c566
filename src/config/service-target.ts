import type { z } from 'zod'
import { UsageError } from '../core/errors.js'
import { variableOf } from './environment.js'
import type { Merged } from './merge-layers.js'
import { type ProfileName, serviceSchema } from './settings-schema.js'

/** Address and credentials of a service. */
export type ServiceAccess = { readonly [Key in keyof z.infer<typeof serviceSchema>]-?: string }

/** The settings of a remote service. */
export type RemoteTarget = { readonly kind: 'remote' } & ServiceAccess
interface EmbeddedTarget {
  readonly kind: 'embedded'
}
export type ServiceTarget =
  | EmbeddedTarget
  | RemoteTarget
  /** Chosen but without some settings, such as `service.scope`. Only a command that needs it fails. */
  | { readonly kind: 'incomplete'; readonly missing: readonly string[] }
  /** Two services at once, as a sentence says. A token of one must not go to the other. */
  | { readonly kind: 'mixed'; readonly why: string }

const KEYS = serviceSchema.keyof().options
/** The keys that identify a service and account. A secret alone may change. */
const IDENTIFYING = KEYS.filter((key) => key !== 'clientSecret')
const PROFILES_WITH_SECTION = ['sandbox', 'production'] as const

type Part = 'environment' | 'profile' | 'shared'

/**
 * Chooses the service. It is embedded with the profile `local`, or if neither a profile nor any address or credential
 * is configured. A partly configured remote service is incomplete, never embedded.
 */
export function serviceTarget(merged: Merged, profile: ProfileName | null): ServiceTarget {
  if (profile === 'local') return { kind: 'embedded' }
  const found = KEYS.flatMap((key) => {
    const chosen = chosenValue(merged, profile, key)
    return chosen === undefined ? [] : [[key, chosen.value, chosen.part] as const]
  })
  if (profile === null && found.length === 0) return { kind: 'embedded' }
  const why = mixture(merged, profile, new Set(found.map(([, , part]) => part)))
  if (why !== undefined) return { kind: 'mixed', why }
  const missing = KEYS.filter((key) => !found.some(([name]) => name === key)).map((key) => `service.${key}`)
  if (missing.length > 0) return { kind: 'incomplete', missing }
  return { kind: 'remote', ...(Object.fromEntries(found.map(([key, value]) => [key, value])) as ServiceAccess) }
}

/**
 * Returns the service if a command needs one.
 *
 * @throws {UsageError} `ERR_SERVICE_INCOMPLETE` with each missing variable; `ERR_SERVICE_MIXED`
 */
export function requireService(config: {
  readonly service: ServiceTarget
  readonly profile: ProfileName | null
}): EmbeddedTarget | RemoteTarget {
  const { service, profile } = config
  if (service.kind === 'mixed') {
    throw new UsageError('ERR_SERVICE_MIXED', service.why, {
      remedies: [
        'Unset the VOXMUX_ variables of the other service, or leave --profile out to use only them.',
        'Or complete the section of the profile in your own configuration.',
      ],
    })
  }
  if (service.kind !== 'incomplete') return service
  const names = service.missing.map((path) => variableOf(path) ?? path).join(', ')
  const isOne = service.missing.length === 1
  const subject = profile === null ? 'The configured service' : `The profile "${profile}"`
  throw new UsageError(
    'ERR_SERVICE_INCOMPLETE',
    `${subject} is incomplete: ${names} ${isOne ? 'is' : 'are'} not set.`,
    {
      remedies: [
        `Set ${isOne ? 'it' : 'them'} in the environment, in your own configuration, or in a file that you name with --config.`,
        'Use --profile local for the embedded service, which needs no account.',
      ],
    },
  )
}

/**
 * Chooses the value of a key. The environment overrides the profile's section, which overrides the section for all
 * profiles. A profile of the command line overrides the environment.
 */
function chosenValue(
  merged: Merged,
  profile: ProfileName | null,
  key: string,
): { value: unknown; part: Part } | undefined {
  const direct = merged.get(`service.${key}`)
  const ofEnvironment = direct?.origin.kind === 'env' ? direct.value : undefined
  const parts: readonly [Part, unknown][] = [
    ['environment', ofEnvironment],
    ['profile', ofProfile(merged, profile, key)],
  ]
  const isNamed = merged.get('profile')?.origin.kind === 'flag'
  const ordered = [...(isNamed ? parts.toReversed() : parts), ['shared', direct?.value] as const]
  const [part, value] = ordered.find(([, candidate]) => candidate !== undefined) ?? []
  return part === undefined ? undefined : { value, part }
}

function ofProfile(merged: Merged, profile: ProfileName | null, key: string): unknown {
  return profile === null ? undefined : merged.get(`profiles.${profile}.${key}`)?.value
}

/** Describes how environment and profile define different services, if the result would mix both. */
function mixture(merged: Merged, profile: ProfileName | null, parts: ReadonlySet<Part>): string | undefined {
  if (profile === null || !parts.has('environment')) return undefined
  const differing = (name: ProfileName) =>
    IDENTIFYING.filter((key) => {
      const direct = merged.get(`service.${key}`)
      const own = ofProfile(merged, name, key)
      return direct?.origin.kind === 'env' && own !== undefined && own !== direct.value
    })
  if (parts.has('profile')) {
    const [key] = differing(profile)
    return key === undefined
      ? undefined
      : `The profile "${profile}" and ${variableOf(`service.${key}`)} describe different services, and neither is complete by itself.`
  }
  const isOfAnother = PROFILES_WITH_SECTION.some((other) => {
    const direct = merged.get('service.baseUrl')
    const isNamed = merged.get('profile')?.origin.kind === 'flag'
    return isNamed && other !== profile && direct !== undefined && ofProfile(merged, other, 'baseUrl') === direct.value
  })
  return isOfAnother ? `VOXMUX_BASE_URL is the address of another profile, not of "${profile}".` : undefined
}
