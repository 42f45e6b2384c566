import { z } from 'zod'
import { isSafe } from '../client/address.js'
import { LIMITS, outputTypeSchema, secretPositionSchema } from '../contract/index.js'
import { limitsSchema } from '../precheck/limits.js'
import { credentialsSchema } from './credentials-schema.js'
import { recipePartSchema } from './preset-schema.js'
import { watchSchema } from './watch-schema.js'

/** One folder with different paths on the machines of a shared store. */
const pathRootSchema = z.strictObject({
  store: z
    .string()
    .regex(/^[A-Za-z][\w.-]+:$/, 'must be a name of two letters or more and a colon, for example nas:')
    .meta({ description: 'Its name in the store, the same on every machine, for example `nas:`.' }),
  here: z.string().min(1).meta({ description: 'Its path on this machine, for example `/mnt/nas` or `Z:\\`.' }),
})

/** The chosen service. `local` is the embedded one, which needs neither address nor account. */
export const profileSchema = z.enum(['local', 'sandbox', 'production']).meta({
  description: '`local`: the embedded service. `sandbox`, `production`: the service of that section in `profiles`.',
})
export type ProfileName = z.infer<typeof profileSchema>

/** https anywhere, http only to this machine: tokens and voices must not cross a network unencrypted. */
const address = z
  .url({ protocol: /^https?$/, error: 'must be a complete address, such as https://voice.example.com', abort: true })
  .refine((text) => isSafe(new URL(text)), { error: 'must be https (plain http only to this machine)' })

/** The six settings of a remote service. */
export const serviceSchema = z.strictObject({
  baseUrl: address.optional().meta({ description: 'Address of the service.' }),
  authUrl: address.optional().meta({ description: 'Address of the identity provider.' }),
  tenantId: z.string().min(1).optional().meta({ description: 'Tenant, as shown in the portal.' }),
  clientId: z.string().min(1).optional().meta({ description: 'Client id of the API key.' }),
  clientSecret: z.string().min(1).optional().meta({ description: 'Secret of the API key. Shown only once.' }),
  scope: z.string().min(1).optional().meta({ description: 'Scope, as shown in the portal.' }),
})

/** A receiver of the service's webhooks, so that a run need not poll for the end of its files. */
export const webhookSchema = z.strictObject({
  listen: z
    .string()
    .regex(/^(\[[\da-fA-F:.]+\]|[^\s:[\]]+):\d{1,5}$/, 'must be HOST:PORT, for example 0.0.0.0:8787')
    .optional()
    .meta({
      description:
        'Address at which to receive webhooks, as HOST:PORT. Set its public address in the portal. Leave it out if another machine of the store receives them.',
    }),
  secret: z
    .string()
    .min(1)
    .max(LIMITS.webhookSecretMaxChars)
    .optional()
    .meta({ description: 'Secret that each webhook must contain. Default: derived from the API key.' }),
  secretPosition: secretPositionSchema
    .optional()
    .meta({ description: 'Position of the secret, as set in the portal. Default: any.' }),
})
export type WebhookSettings = z.infer<typeof webhookSchema>

/** An extension: its package name or path, alone or with its options. */
export const extensionSettingSchema = z.union(
  [z.string().min(1), z.tuple([z.string().min(1), z.record(z.string(), z.unknown())])],
  { error: 'must be a package name, a path, or ["name", { …its options }]' },
)
export type ExtensionSetting = z.infer<typeof extensionSettingSchema>

/** Slots of the stages that do not depend on the machine. */
export const STAGE_DEFAULTS = { transfers: 8, remote: 200 } as const

const places = (max: number, description: string, fallback?: number) =>
  z.int().min(1).max(max).optional().meta({ description, default: fallback })

/** Slots for each stage, for all files together. Unset ones depend on the machine. */
const stagesSchema = z.strictObject({
  local: places(256, 'Local tasks at the same time: ffmpeg, hashing. Default: the number of processors plus two.'),
  transfers: places(256, 'Simultaneous uploads and downloads of voices.', STAGE_DEFAULTS.transfers),
  remote: places(10_000, 'Voices that the service processes at the same time.', STAGE_DEFAULTS.remote),
})

const file = (description: string) => z.string().min(1).optional().meta({ description })

const storeAddress = z.string().regex(/^postgres(ql)?:\/\//, 'must be a postgres:// address')

/** All settings of a configuration file. trust.ts lists those that a *found* file may not have. */
export const settingsSchema = recipePartSchema.extend({
  $schema: z.string().optional().meta({ description: 'For editors. voxmux does not read it.' }),
  profile: profileSchema.optional(),
  service: serviceSchema.optional().meta({ description: 'The service for all profiles.' }),
  profiles: z
    .strictObject({ sandbox: serviceSchema.optional(), production: serviceSchema.optional() })
    .optional()
    .meta({ description: 'The service of each profile.' }),
  webhook: webhookSchema.optional().meta({ description: 'Receive webhooks of a remote service.' }),
  blockTypeHeader: z
    .string()
    .regex(/^[A-Za-z0-9-]+$/, 'must be the name of an HTTP header')
    .optional()
    .meta({ description: 'Header for the block type of an upload.' }),
  engine: file(
    'JSON description of an ONNX voice model for the embedded service; see docs/onnx-engine.md. Default: the embedded models.',
  ),
  preset: z.string().min(1).optional().meta({ description: 'Name or path of the preset.' }),
  outputType: outputTypeSchema.optional().meta({ description: 'Output format of an audio file. Default: its own.' }),
  strict: z.boolean().optional().meta({ description: 'Refuse a file if anything in it cannot be kept.' }),
  report: z
    .boolean()
    .optional()
    .meta({ description: 'Write a page beside the output that compares before and after.' }),
  credentials: credentialsSchema.optional().meta({
    description: 'Sign every output with Content Credentials (C2PA); see docs/proof.md.',
  }),
  chunkSec: z.number().min(10).optional().meta({ description: 'Send long files in parts of about this length.' }),
  concurrency: z
    .int()
    .min(1)
    .max(1000)
    .optional()
    .meta({ description: 'Files to process at the same time. Default: 2 in a run, 16 in a worker.' }),
  stages: stagesSchema.optional().meta({ description: 'Parallel tasks of each stage in one process.' }),
  maxSecondsPerDay: z.number().positive().optional().meta({
    description:
      'Seconds of voice that may be paid for per day (UTC). Further jobs wait for the next day, and `--remote` is refused.',
  }),
  limits: limitsSchema
    .omit({ requireVoice: true })
    .optional()
    .meta({ description: 'Limits of the service. Unset ones are not checked locally.' }),
  cacheMaxBytes: z.int().min(0).optional().meta({ description: 'Size of the cache of regenerated audio, in bytes.' }),
  keepVoicesDays: z.number().min(1).max(36_500).optional().meta({
    description: 'Days after its last use until the ledger forgets a voice that was paid for.',
  }),
  cacheDir: file('Folder of the cache. Default: in the state folder. Use a share for the machines of one store.'),
  stateDir: file('State folder with the ledger, the cache and the data of the embedded service.'),
  ledger: file('SQLite file of the ledger. Default: in the state folder.'),
  store: storeAddress.optional().meta({ description: 'Shared job store to use instead of the ledger.' }),
  paths: z.array(pathRootSchema).optional().meta({
    description: 'Folders with different paths on the machines of a shared store.',
  }),
  ffmpeg: file('Path or name of ffmpeg.'),
  ffprobe: file('Path or name of ffprobe.'),
  watch: watchSchema.optional().meta({ description: 'Folders that `voxmux watch` processes.' }),
  extensions: z.array(extensionSettingSchema).optional().meta({
    description: 'Extensions to load: a package name, a path, or `["name", { options }]`; see docs/extensions.md.',
  }),
})
export type Settings = z.infer<typeof settingsSchema>
