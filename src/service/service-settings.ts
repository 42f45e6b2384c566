import { z } from 'zod'
import { engineSpec } from '../voice/engine-spec.js'

const seconds = (description: string) => z.number().positive().meta({ description })
const timer = (description: string) => z.int().positive().meta({ description })
const count = (description: string) => z.int().positive().meta({ description })

const linkSettings = z.strictObject({
  uploadLifetimeSec: seconds('How long an upload link is good, in seconds.').default(3600),
  downloadLifetimeSec: seconds('How long a download link is good, in seconds.').default(3600),
  maxUploadBytes: count(
    'Hard limit of one upload or download. Larger than `maxFileBytes`, so that a file a little too large still gets its -13.',
  ).default(64 * 1024 ** 3),
  idleTimeoutMs: timer('An upload or download that moves no byte for so long is cut, in milliseconds.').default(
    120_000,
  ),
})

const retentionSettings = z.strictObject({
  inputSec: seconds('Inputs are deleted so long after the file has ended, in seconds.').default(24 * 3600),
  outputSec: seconds('Outputs are deleted so long after the file has ended, in seconds.').default(7 * 24 * 3600),
  unusedSec: seconds('Registered files that were never started are deleted after so many seconds.').default(48 * 3600),
  recordSec: seconds('Records are forgotten so long after their output is deleted, in seconds.').default(
    90 * 24 * 3600,
  ),
  sweepMs: timer('How often the service looks for what is to be deleted, in milliseconds.').default(60_000),
})

const workSettings = z.strictObject({
  concurrency: count('Files in work at once on this node; the rest stay Pending.').optional(),
  timeoutMs: timer('A file that is in work for longer ends with -12, in milliseconds.').default(6 * 3600_000),
  attempts: count(
    'Attempts before a fault of the service itself (not of the file) ends with -1; crashes and stops do not count.',
  ).default(2),
  crashes: count('Nodes that may die with a file in work before the file ends with -1.').default(5),
  leaseMs: timer('A node that gives no sign for so long loses its work to another, in milliseconds.').default(30_000),
  pollMs: timer('How often a node looks for work that another one accepted, in milliseconds.').default(500),
})

const downloadSettings = z.strictObject({
  maxRedirects: z.int().min(0).meta({ description: 'Redirects followed when fetching from a URL.' }).default(5),
  connectTimeoutMs: timer('Time to connect and get an answer, in milliseconds.').default(20_000),
  totalTimeoutMs: timer('Time for the whole download, in milliseconds.').default(3600_000),
})

const webhookSettings = z.strictObject({
  timeoutMs: timer('Time a receiver has to acknowledge with 2xx, in milliseconds.').default(10_000),
  attempts: count('Deliveries tried before an event is given up.').default(8),
  baseDelayMs: timer('Back-off after the first failed delivery, in milliseconds; doubles each time.').default(1000),
  maxDelayMs: timer('Longest back-off, in milliseconds.').default(10 * 60_000),
  pollMs: timer('How often a node looks for events that another one queued, in milliseconds.').default(500),
  logSec: seconds('How long the delivery log is kept, in seconds.').default(30 * 24 * 3600),
})

const identitySettings = z.strictObject({
  keyRotationSec: seconds('Age at which the token signing key is replaced, in seconds.').default(30 * 24 * 3600),
  outside: z
    .strictObject({
      issuer: z.url().meta({ description: 'The `iss` of its tokens.' }),
      audience: z.string().min(1).meta({ description: 'The `aud` that a token must carry.' }),
      jwksUrl: z.url().meta({ description: 'Where its public keys are.' }),
      scope: z.string().min(1).optional().meta({ description: 'A scope or role that a token must carry (else 403).' }),
      tokenUrl: z.url().optional().meta({ description: 'Where clients get tokens; shown by `portal show`.' }),
    })
    .optional()
    .meta({ description: 'An identity provider used instead of the service’s own.' }),
})

/** Everything of the service that an operator may set; each value has a default. */
export const serviceSettingsSchema = z.strictObject({
  links: linkSettings.prefault({}),
  retention: retentionSettings.prefault({}),
  work: workSettings.prefault({}),
  download: downloadSettings.prefault({}),
  webhooks: webhookSettings.prefault({}),
  identity: identitySettings.prefault({}),
  engine: engineSpec
    .prefault({ kind: 'rnnoise' })
    .meta({ description: 'The voice model that works; see docs/onnx-engine.md.' }),
})
export type ServiceSettings = z.output<typeof serviceSettingsSchema>
export type ServiceSettingsInput = z.input<typeof serviceSettingsSchema>
export type OutsideIdentity = NonNullable<ServiceSettings['identity']['outside']>
