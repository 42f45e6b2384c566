import { z } from 'zod'
import { LIMITS, outputTypeSchema, secretPositionSchema } from '../contract/index.js'
import { limitsSchema } from '../precheck/limits.js'
import { pathRootSchema } from './path-root-schema.js'
import { recipePartSchema } from './preset-schema.js'
import { watchSchema } from './watch-schema.js'

/** Where the service is. `local` is the embedded one, which needs no address and no account. */
export const profileSchema = z
  .enum(['local', 'sandbox', 'production'])
  .meta({ description: '`local`: the embedded service. `sandbox`, `production`: those addresses.' })
export type ProfileName = z.infer<typeof profileSchema>

/** https anywhere, http only to this machine: tokens and voices do not cross a network in the clear. */
const address = z
  .url({ protocol: /^https?$/, error: 'must be an https address' })
  .refine(isSafeAddress, { error: 'must be https (plain http only to this machine)' })

/** The six values that a remote service needs. */
export const serviceSchema = z.strictObject({
  baseUrl: address.optional().meta({ description: 'Address of the service.' }),
  authUrl: address.optional().meta({ description: 'Address of the identity provider.' }),
  tenantId: z.string().min(1).optional().meta({ description: 'Tenant, as shown in the portal.' }),
  clientId: z.string().min(1).optional().meta({ description: 'Client id of the API key.' }),
  clientSecret: z.string().min(1).optional().meta({ description: 'Secret of the API key. Never shown again.' }),
  scope: z.string().min(1).optional().meta({ description: 'Scope, as shown in the portal.' }),
})

/** A receiver of the service's webhooks, so that a run hears of the end of its files instead of asking. */
export const webhookSchema = z.strictObject({
  listen: z
    .string()
    .regex(/^(\[[\da-fA-F:.]+\]|[^\s:[\]]+):\d{1,5}$/, 'must be HOST:PORT, for example 0.0.0.0:8787')
    .optional()
    .meta({
      description:
        'Where to receive webhooks, as HOST:PORT; the portal names the public address of it. Left out where another machine of the store receives them.',
    }),
  secret: z
    .string()
    .min(1)
    .max(LIMITS.webhookSecretMaxChars)
    .optional()
    .meta({ description: 'What each webhook must show; left out, one is derived from the API key.' }),
  secretPosition: secretPositionSchema
    .optional()
    .meta({ description: 'Where the secret must stand, as set in the portal; left out, anywhere.' }),
})
export type WebhookSettings = z.infer<typeof webhookSchema>

/** A plugin: its package name or path, alone or with its options. */
export const pluginSettingSchema = z.union(
  [z.string().min(1), z.tuple([z.string().min(1), z.record(z.string(), z.unknown())])],
  { error: 'must be a package name or a path, or ["name", { …its options }]' },
)
export type PluginSetting = z.infer<typeof pluginSettingSchema>

const places = (max: number, description: string) => z.int().min(1).max(max).optional().meta({ description })

/** Places for each kind of work, whatever the number of files; what is not set follows from the machine. */
export const stagesSchema = z.strictObject({
  local: places(256, 'What loads this machine: ffmpeg, hashing. Default: two more than it has processors.'),
  transfers: places(256, 'Voices on their way to the service or back. Default 8.'),
  remote: places(10_000, 'Voices at the service. Default 200.'),
})

const file = (description: string) => z.string().min(1).optional().meta({ description })

const storeAddress = z.string().regex(/^rediss?:\/\//, 'must be a redis:// or rediss:// address')

/** Everything that a configuration file may set. What a file *found* from the working folder may not: see trust.ts. */
export const settingsSchema = recipePartSchema.extend({
  $schema: z.string().optional().meta({ description: 'For editors; not read.' }),
  profile: profileSchema.optional(),
  service: serviceSchema.optional().meta({ description: 'The service, whatever the profile.' }),
  profiles: z
    .strictObject({ sandbox: serviceSchema.optional(), production: serviceSchema.optional() })
    .optional()
    .meta({ description: 'The service of each profile.' }),
  webhook: webhookSchema.optional().meta({ description: 'Receive webhooks of a remote service.' }),
  blockTypeHeader: z
    .string()
    .regex(/^[A-Za-z0-9-]+$/, 'must be the name of an HTTP header')
    .optional()
    .meta({ description: 'Header that declares the block type of an upload.' }),
  preset: z.string().min(1).optional().meta({ description: 'Preset, by name or path.' }),
  outputType: outputTypeSchema
    .optional()
    .meta({ description: 'Format of the output of an audio file; its own where not set.' }),
  strict: z.boolean().optional().meta({ description: 'Refuse a file of which anything cannot be kept.' }),
  report: z
    .boolean()
    .optional()
    .meta({ description: 'Write a page that compares before and after beside the output.' }),
  chunkSec: z.number().min(10).optional().meta({ description: 'Send long files in parts of about this length.' }),
  concurrency: z
    .int()
    .min(1)
    .max(1000)
    .optional()
    .meta({ description: 'Files that are worked on at the same time: 2, of a worker 16.' }),
  stages: stagesSchema.optional().meta({ description: 'How much of each kind of work a process does at once.' }),
  maxSecondsPerDay: z
    .number()
    .positive()
    .optional()
    .meta({ description: 'Seconds of voice that may be paid for a day (UTC); what is beyond waits for the next.' }),
  limits: limitsSchema
    .omit({ requireVoice: true })
    .optional()
    .meta({ description: 'What the service takes; what is not set is not checked here.' }),
  cacheMaxBytes: z.int().min(0).optional().meta({ description: 'Size of the cache of regenerated voice.' }),
  keepVoicesDays: z.number().min(1).max(36_500).optional().meta({
    description: 'Days after its last use that the ledger forgets what a voice was paid for.',
  }),
  cacheDir: file('Folder of that cache, where it is not in the state folder: a share, for the machines of one store.'),
  stateDir: file('State folder: ledger, cache, and the data of the embedded service.'),
  ledger: file('SQLite file of the ledger, where it is not in the state folder.'),
  store: storeAddress.optional().meta({ description: 'Shared job store, instead of the ledger.' }),
  jobs: z
    .strictObject({ store: storeAddress.optional().meta({ description: 'The same as `store`.' }) })
    .optional()
    .meta({ description: 'Where the jobs are kept.' }),
  paths: z.array(pathRootSchema).optional().meta({
    description: 'Folders that the machines of a shared store have in different places.',
  }),
  ffmpeg: file('ffmpeg to use.'),
  ffprobe: file('ffprobe to use.'),
  watch: watchSchema.optional().meta({ description: 'Folders that `voxmux watch` works off.' }),
  plugins: z
    .array(pluginSettingSchema)
    .optional()
    .meta({ description: 'Plugins to load: package name or path, or `["name", { options }]`; see docs/plugins.md.' }),
})
export type Settings = z.infer<typeof settingsSchema>

function isSafeAddress(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, hostname } = new URL(text)
  return protocol === 'https:' || /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)
}
