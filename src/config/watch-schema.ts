import { z } from 'zod'
import { webAddressSchema } from './credentials-schema.js'
import { addTrackSchema, onlyNoisySchema, qcSchema, skipCleanSchema } from './preset-schema.js'

/** Defaults below flag, folder and configuration. The tables of the docs show them. */
export const WATCH_DEFAULTS = {
  settleSec: 10,
  patienceSec: 60,
  scanSec: 10,
  poll: false,
  out: 'out',
  failed: 'failed',
  done: 'done',
  source: 'keep',
  name: '{folder}/{name}{ext}',
  priority: 0,
} as const

// Defaults are documented, not filled in: a file without a key must not override another that sets it.
const seconds = (key: 'settleSec' | 'patienceSec' | 'scanSec', min: number, description: string) =>
  z.number().min(min).max(86_400).optional().meta({ description, default: WATCH_DEFAULTS[key] })
const folder = (key: 'out' | 'failed' | 'done', description: string) =>
  z.string().min(1).optional().meta({ description, default: WATCH_DEFAULTS[key] })
const globs = (description: string) => z.array(z.string().min(1)).optional().meta({ description })

/** Name of a file beside another, with that one's name as `{name}`. */
/** Name of a file beside another one. */
export const BESIDE = /^(?!\{name\}$)[^/\\]*\{name\}[^/\\]*$/

/** Settings that decide when a file of a watched folder is taken, for one folder or for all. */
const takingSchema = z.strictObject({
  settleSec: seconds('settleSec', 0, 'Seconds for which a file must stay unchanged before it is taken.'),
  patienceSec: seconds(
    'patienceSec',
    0,
    'Seconds after its last change for which a file may stay unreadable before it fails.',
  ),
  scanSec: seconds('scanSec', 0.1, 'Seconds between two scans for files that no event reported.'),
  poll: z
    .boolean()
    .optional()
    .meta({ description: 'Scan only and use no events, for network shares.', default: WATCH_DEFAULTS.poll }),
})

/** The command or webhook called after a file was published or has failed. The command runs without a shell. */
const afterSchema = z.strictObject({
  command: z.array(z.string().min(1)).min(1).optional().meta({
    description:
      'Program and its first arguments. Status, output, source and preset follow, also in VOXMUX_STATUS, VOXMUX_OUTPUT, VOXMUX_SOURCE and VOXMUX_PRESET.',
  }),
  webhook: webAddressSchema.optional().meta({
    description: 'Address that receives the facts of each ended file as JSON, by POST; see docs/notifications.md.',
  }),
})
export type WatchAfter = z.infer<typeof afterSchema>

const watchFolderSchema = takingSchema.extend({
  path: z.string().min(1).meta({ description: 'Path of the folder.' }),
  out: folder('out', 'Folder of finished files, by default in the watched folder.'),
  failed: folder('failed', 'Folder of the reports of failed files, by default in the watched folder.'),
  preset: z.string().min(1).optional().meta({ description: 'Name or path of the preset of its files.' }),
  onlyNoisy: onlyNoisySchema.optional(),
  skipClean: skipCleanSchema.optional(),
  qc: qcSchema.optional(),
  addTrack: addTrackSchema.optional(),
  source: z.enum(['keep', 'move']).optional().meta({
    description: 'Keep a source in place after publishing, or move it to `done`.',
    default: WATCH_DEFAULTS.source,
  }),
  done: folder('done', 'Folder of sources with `"source": "move"`, by default in the watched folder.'),
  name: z.string().min(1).optional().meta({
    description: 'Name of an output below `out`, made of {folder}, {name}, {ext}, {preset}, {date}.',
    default: WATCH_DEFAULTS.name,
  }),
  include: globs('Take only files whose path in the folder matches one of these, for example `**/*.mov`.'),
  exclude: globs('Take no files whose path in the folder matches one of these.'),
  priority: z
    .int()
    .min(-1000)
    .max(1000)
    .optional()
    .meta({ description: 'Priority of its files. Higher numbers go first.', default: WATCH_DEFAULTS.priority }),
  marker: z
    .string()
    .min(1)
    .regex(BESIDE, 'must be a file name with {name} in it, for example {name}.done')
    .optional()
    .meta({ description: 'Take a file only if a file of this name is beside it, for example `{name}.done`.' }),
  renamedFrom: z
    .string()
    .min(1)
    .regex(BESIDE, 'must be a file name with {name} in it, for example {name}.uploading')
    .optional()
    .meta({
      description:
        'Name of unfinished files of the copy tool, for example `{name}.uploading`. The daemon ignores them.',
    }),
  after: afterSchema.optional().meta({ description: 'Command or webhook after each published or failed file.' }),
})
export type WatchFolderSettings = z.infer<typeof watchFolderSchema>

const dashboardSchema = z.strictObject({
  port: z.int().min(0).max(65_535).optional().meta({
    description: 'Port of the dashboard, health checks and metrics; 0 uses any free port. Default: none of them.',
  }),
  host: z.string().min(1).optional().meta({
    description: 'Address to listen at. For any other address, put a proxy with a login in front.',
    default: '127.0.0.1',
  }),
  hosts: z
    .array(z.string().min(1))
    .optional()
    .meta({ description: 'Further host names under which clients may reach it, as in the Host header.' }),
  publicUrl: webAddressSchema.optional().meta({
    description: 'Address at which people reach it, for links in notifications. Default: its own.',
  }),
})

/** The key `watch`: the folders of `voxmux watch`, and the defaults of each. */
export const watchSchema = takingSchema.extend({
  folders: z.array(watchFolderSchema).optional().meta({ description: 'The watched folders.' }),
  webhookSecret: z.string().min(1).optional().meta({
    description: 'Secret that signs the webhooks of all folders, by Standard Webhooks. Default: unsigned.',
  }),
  dashboard: dashboardSchema.optional().meta({ description: 'Address of the dashboard of `voxmux watch`.' }),
})
export type WatchSettings = z.infer<typeof watchSchema>
