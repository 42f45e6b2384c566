import { z } from 'zod'
import { engineSpec } from '../voice/engine-spec.js'

const seconds = (description: string) => z.number().positive().meta({ description })
const whole = (description: string) => z.int().positive().meta({ description })

const linkSettings = z.strictObject({
  uploadLifetimeSec: seconds('Lifetime of an upload link, in seconds.').default(3600),
  downloadLifetimeSec: seconds('Lifetime of a download link, in seconds.').default(3600),
  maxUploadBytes: whole(
    'Hard limit of one upload or download, in bytes. Keep it above `limits.maxSizeBytes`, so that a file slightly over that limit still gets its -13.',
  ).default(64 * 1024 ** 3),
  idleTimeoutMs: whole('Closes an upload or download that transfers no byte for this time, in milliseconds.').default(
    120_000,
  ),
})

const retentionSettings = z.strictObject({
  inputSec: seconds('Time from the end of a file until its input is deleted, in seconds.').default(24 * 3600),
  outputSec: seconds('Time from the end of a file until its output is deleted, in seconds.').default(7 * 24 * 3600),
  unusedSec: seconds('Time until a file that was registered but never started is deleted, in seconds.').default(
    48 * 3600,
  ),
  recordSec: seconds('Time from the deletion of an output until its record is deleted, in seconds.').default(
    90 * 24 * 3600,
  ),
  sweepMs: whole('Interval between two searches for expired files, in milliseconds.').default(60_000),
})

const accountSettings = z.strictObject({
  maxUnstartedFiles: whole(
    'Files of an account that are registered and not started. Above that, a registration gets a 429.',
  ).default(10_000),
})

const workSettings = z.strictObject({
  concurrency: whole('Files that this node processes at the same time. The rest stay Pending.').optional(),
  timeoutMs: whole('Longest processing time of a file, in milliseconds. After that it ends with -12.').default(
    6 * 3600_000,
  ),
  attempts: whole(
    'Attempts before a fault of the service, not of the file, ends the file with -1. Crashes and stops do not count.',
  ).default(2),
  crashes: whole('Nodes that may crash while they process a file before the file ends with -1.').default(5),
  leaseMs: whole('Silence after which another node takes over the files of a node, in milliseconds.').default(30_000),
  pollMs: whole('Interval at which a node looks for files that another node accepted, in milliseconds.').default(500),
})

const downloadSettings = z.strictObject({
  maxRedirects: z
    .int()
    .min(0)
    .meta({ description: 'Redirects to follow when the service downloads from a URL.' })
    .default(5),
  connectTimeoutMs: whole('Time limit to connect and receive a response, in milliseconds.').default(20_000),
  totalTimeoutMs: whole('Time limit of the whole download, in milliseconds.').default(3600_000),
})

const webhookSettings = z.strictObject({
  timeoutMs: whole('Time in which a receiver must acknowledge with 2xx, in milliseconds.').default(10_000),
  attempts: whole('Delivery attempts before an event is dropped.').default(8),
  baseDelayMs: whole('Wait after the first failed delivery, in milliseconds. It doubles each time.').default(1000),
  maxDelayMs: whole('Longest wait between two deliveries, in milliseconds.').default(10 * 60_000),
  pollMs: whole('Interval at which a node looks for events that another node queued, in milliseconds.').default(500),
  logSec: seconds('Time for which the delivery log is kept, in seconds.').default(30 * 24 * 3600),
})

const identitySettings = z.strictObject({
  keyRotationSec: seconds('Age at which the key that signs tokens is replaced, in seconds.').default(30 * 24 * 3600),
  outside: z
    .strictObject({
      issuer: z.url().meta({ description: 'Issuer (`iss`) of its tokens.' }),
      audience: z.string().min(1).meta({ description: 'Audience (`aud`) that a token must contain.' }),
      jwksUrl: z.url().meta({ description: 'Address of its public keys.' }),
      scope: z
        .string()
        .min(1)
        .optional()
        .meta({ description: 'Scope or role that a token must contain. Other tokens get a 403.' }),
      tokenUrl: z.url().optional().meta({
        description: 'Address at which clients get tokens: a note for people, which the service does not read.',
      }),
    })
    .optional()
    .meta({ description: 'Identity provider to use instead of the own one of the service.' }),
})

/** Every setting of the service. Each has a default. */
export const serviceSettingsSchema = z.strictObject({
  links: linkSettings.prefault({}),
  retention: retentionSettings.prefault({}),
  accounts: accountSettings.prefault({}),
  work: workSettings.prefault({}),
  download: downloadSettings.prefault({}),
  webhooks: webhookSettings.prefault({}),
  identity: identitySettings.prefault({}),
  engine: engineSpec.prefault({ kind: 'embedded' }).meta({ description: 'The voice model; see docs/onnx-engine.md.' }),
})
export type ServiceSettings = z.output<typeof serviceSettingsSchema>
export type ServiceSettingsInput = z.input<typeof serviceSettingsSchema>
export type OutsideIdentity = NonNullable<ServiceSettings['identity']['outside']>
