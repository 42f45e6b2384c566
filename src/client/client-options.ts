import { z } from 'zod'
import { UsageError } from '../core/errors.js'
import type { Logger } from '../core/logger.js'
import type { TrafficMeter } from './traffic-meter.js'

const ms = z.int().min(0)

/** When and how often a failed request is retried. */
export const retryOptionsSchema = z.strictObject({
  limit: z.int().min(0).default(6).meta({ description: 'Retries of one request before it fails.' }),
  baseMs: ms.default(250).meta({ description: 'First pause between retries. It doubles each time, with jitter.' }),
  maxMs: ms.default(10_000).meta({ description: 'Longest pause between retries, without a Retry-After.' }),
  retryAfterMaxMs: ms
    .default(120_000)
    .meta({ description: 'Longest Retry-After of the service that the client obeys.' }),
})
export type RetryOptions = z.output<typeof retryOptionsSchema>

/** Time limits for a silent network. */
export const timeoutOptionsSchema = z.strictObject({
  connectMs: ms.default(10_000).meta({ description: 'Time limit of name look-up, connection and TLS, each.' }),
  answerMs: ms.default(30_000).meta({ description: 'Time limit of one API call.' }),
  idleMs: ms.default(60_000).meta({ description: 'Longest silence on the socket of an upload or a download.' }),
})
export type TimeoutOptions = z.output<typeof timeoutOptionsSchema>

/** How the client polls the status of files. */
export const pollingOptionsSchema = z.strictObject({
  minMs: ms.default(250).meta({ description: 'Shortest pause between two polls of a file.' }),
  maxMs: ms.default(5_000).meta({ description: 'Longest pause between two polls of a file.' }),
  hookedMs: ms.default(15_000).meta({ description: 'Pause between two polls while webhooks arrive.' }),
  hooksFreshMs: ms
    .default(60_000)
    .meta({ description: 'Time after the last webhook during which webhooks count as arriving.' }),
  notFoundGraceMs: ms
    .default(60_000)
    .meta({ description: 'Time for which a file may be NotFound before its job fails.' }),
  unchangedMs: ms
    .default(86_400_000)
    .meta({ description: 'Time for which a file may stay at one status before its job fails.' }),
  outageMs: ms.default(300_000).meta({ description: 'Time for which polls may fail before waiting jobs fail.' }),
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
    .meta({ description: 'Name of the upload header with the value BlockBlob.' }),
  transferConcurrency: z.int().min(1).default(4).meta({ description: 'Simultaneous uploads and downloads.' }),
  retry: retryOptionsSchema.prefault({}),
  timeouts: timeoutOptionsSchema.prefault({}),
  polling: pollingOptionsSchema.prefault({}),
})

/** Options of `new VoxmuxClient`: six values from the developer portal are required, the others have defaults. */
export type VoxmuxClientOptions = z.input<typeof voxmuxClientOptionsSchema> & {
  logger?: Logger | undefined
  /** Counts requests and bytes. */
  meter?: TrafficMeter | undefined
}
/** The options with all defaults filled in. */
export type ResolvedClientOptions = z.output<typeof voxmuxClientOptionsSchema>

/** @throws {UsageError} `ERR_BAD_OPTION` with each option that is missing, unknown or wrong */
export function resolveClientOptions(options: VoxmuxClientOptions): ResolvedClientOptions {
  const { logger: _logger, meter: _meter, ...values } = options
  const parsed = voxmuxClientOptionsSchema.safeParse(values)
  if (parsed.success) return parsed.data
  const faults = parsed.error.issues.map(({ path, message }) => {
    const name = path.join('.') || 'options'
    return Object.entries(values).some(([key, value]) => key === name && value === '')
      ? `${name} is empty`
      : `${name}: ${message}`
  })
  throw new UsageError('ERR_BAD_OPTION', `The client options are invalid (${faults.join('; ')}).`, {
    remedies: ['Correct them. The developer portal shows the six values of the service.'],
  })
}
