import { z } from 'zod'
import { UsageError } from '../core/errors.js'
import type { Logger } from '../core/logger.js'
import type { TrafficMeter } from './traffic-meter.js'

const ms = z.int().min(0)

/** When and how often a failed request is sent again. */
export const retryOptionsSchema = z.strictObject({
  limit: z.int().min(0).default(6).meta({ description: 'How often one request is repeated before giving up.' }),
  baseMs: ms.default(250).meta({ description: 'First pause; it doubles each time, with jitter.' }),
  maxMs: ms.default(10_000).meta({ description: 'Longest pause of our own.' }),
  retryAfterMaxMs: ms.default(120_000).meta({ description: "Longest Retry-After of the service's that is obeyed." }),
})
export type RetryOptions = z.output<typeof retryOptionsSchema>

/** How long the network may keep silent. */
export const timeoutOptionsSchema = z.strictObject({
  connectMs: ms.default(10_000).meta({ description: 'Name look-up, connection and TLS, each.' }),
  answerMs: ms.default(30_000).meta({ description: 'One whole API call.' }),
  idleMs: ms.default(60_000).meta({ description: 'Silence on the socket of an upload or a download.' }),
})
export type TimeoutOptions = z.output<typeof timeoutOptionsSchema>

/** How the status of files is asked for. */
export const pollingOptionsSchema = z.strictObject({
  minMs: ms.default(250).meta({ description: 'Shortest pause between two questions about a file.' }),
  maxMs: ms.default(5_000).meta({ description: 'Longest pause.' }),
  hookedMs: ms.default(15_000).meta({ description: 'Pause while webhooks arrive.' }),
  hooksFreshMs: ms.default(60_000).meta({ description: 'How long after the last webhook they count as arriving.' }),
  notFoundGraceMs: ms.default(10_000).meta({ description: 'How long a file may be NotFound before that is believed.' }),
  outageMs: ms.default(300_000).meta({ description: 'How long questions may fail before those who wait are told.' }),
})
export type PollingOptions = z.output<typeof pollingOptionsSchema>

export const voxmuxClientOptionsSchema = z.strictObject({
  baseUrl: z.string().min(1).meta({ description: 'Address of the service (VOXMUX_BASE_URL).' }),
  authUrl: z.string().min(1).meta({ description: 'Address of the identity provider (VOXMUX_AUTH_URL).' }),
  tenantId: z.string().min(1).meta({ description: 'Tenant id of the developer portal (VOXMUX_TENANT_ID).' }),
  clientId: z.string().min(1).meta({ description: 'Client id of the API key (VOXMUX_CLIENT_ID).' }),
  clientSecret: z.string().min(1).meta({ description: 'Secret of the API key (VOXMUX_CLIENT_SECRET).' }),
  scope: z.string().min(1).meta({ description: 'api://<application-id-uri>/.default (VOXMUX_SCOPE).' }),
  blockTypeHeader: z
    .string()
    .regex(/^[\w-]+$/)
    .default('x-ms-blob-type')
    .meta({ description: 'Name of the upload header whose value is BlockBlob.' }),
  transferConcurrency: z.int().min(1).default(4).meta({ description: 'Uploads and downloads at once.' }),
  retry: retryOptionsSchema.prefault({}),
  timeouts: timeoutOptionsSchema.prefault({}),
  polling: pollingOptionsSchema.prefault({}),
})

/** What `new VoxmuxClient` takes: six values of the developer portal, the rest has defaults. */
export type VoxmuxClientOptions = z.input<typeof voxmuxClientOptionsSchema> & {
  logger?: Logger | undefined
  /** Counts what goes over the wire. */
  meter?: TrafficMeter | undefined
}
/** The same with every default filled in. */
export type ResolvedClientOptions = z.output<typeof voxmuxClientOptionsSchema>

/** @throws UsageError `ERR_BAD_OPTION` naming each option that is missing, unknown or wrong */
export function resolveClientOptions(options: VoxmuxClientOptions): ResolvedClientOptions {
  const { logger: _logger, meter: _meter, ...values } = options
  const parsed = voxmuxClientOptionsSchema.safeParse(values)
  if (parsed.success) return parsed.data
  const faults = parsed.error.issues.map((issue) => `${issue.path.join('.') || 'options'}: ${issue.message}`)
  throw new UsageError('ERR_BAD_OPTION', `The client's options are wrong (${faults.join('; ')}).`)
}
