import type { z } from 'zod'
import { UsageError } from '../core/errors.js'
import { variableOf } from './environment.js'
import type { Merged } from './merge-layers.js'
import { type ProfileName, serviceSchema } from './settings-schema.js'

/** Address and credentials of a service. */
export type ServiceAccess = { readonly [Key in keyof z.infer<typeof serviceSchema>]-?: string }

/** All that a remote service needs. */
export type RemoteService = { readonly kind: 'remote' } & ServiceAccess
export interface EmbeddedService {
  readonly kind: 'embedded'
}
/** A service that was chosen, but not described: only a command that needs it fails. */
export interface IncompleteService {
  readonly kind: 'incomplete'
  /** Paths of the settings that are missing: `service.scope`. */
  readonly missing: readonly string[]
}
export type ServiceTarget = EmbeddedService | RemoteService | IncompleteService

const KEYS = serviceSchema.keyof().options

/**
 * Decides where the service is: embedded with the profile `local`, or where neither a profile nor a single address or
 * credential is configured. Half a remote service is never taken for none: it is incomplete.
 */
export function serviceTarget(merged: Merged, profile: ProfileName | null): ServiceTarget {
  if (profile === 'local') return { kind: 'embedded' }
  const found = KEYS.flatMap((key) => {
    const value = serviceValue(merged, profile, key)
    return value === undefined ? [] : [[key, value] as const]
  })
  if (profile === null && found.length === 0) return { kind: 'embedded' }
  const missing = KEYS.filter((key) => !found.some(([name]) => name === key)).map((key) => `service.${key}`)
  if (missing.length > 0) return { kind: 'incomplete', missing }
  return { kind: 'remote', ...(Object.fromEntries(found) as ServiceAccess) }
}

/**
 * The service, for a command that needs one.
 *
 * @throws UsageError `ERR_SERVICE_INCOMPLETE`, naming each missing variable
 */
export function requireService(config: {
  readonly service: ServiceTarget
  readonly profile: ProfileName | null
}): EmbeddedService | RemoteService {
  const { service, profile } = config
  if (service.kind !== 'incomplete') return service
  const names = service.missing.map((path) => variableOf(path) ?? path).join(', ')
  const subject = profile === null ? 'The configured service' : `The profile "${profile}"`
  throw new UsageError('ERR_SERVICE_INCOMPLETE', `${subject} is not complete: ${names} not set.`, {
    remedies: [
      'Set them in the environment, in your own configuration, or in a file named by --config.',
      'Use --profile local for the embedded service, which needs no account.',
    ],
  })
}

/** The environment wins over the profile's section, which wins over the section for all profiles. */
function serviceValue(merged: Merged, profile: ProfileName | null, key: string): unknown {
  const direct = merged.get(`service.${key}`)
  const ofProfile = profile === null ? undefined : merged.get(`profiles.${profile}.${key}`)
  return direct?.origin.kind === 'env' ? direct.value : (ofProfile ?? direct)?.value
}
