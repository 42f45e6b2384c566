import { z } from 'zod'

const seconds = (min: number, description: string) => z.number().min(min).max(86_400).optional().meta({ description })
const folder = (description: string) => z.string().min(1).optional().meta({ description })
const globs = (description: string) => z.array(z.string().min(1)).optional().meta({ description })

/** What decides when a file of a watched folder is taken; of one folder, or of all. */
const takingSchema = z.strictObject({
  settleSec: seconds(0, 'How long a file must stay unchanged before it may be taken (default 10).'),
  patienceSec: seconds(
    0,
    'How long after its last change a file may stay unreadable before it is reported as failed (default 60).',
  ),
  scanSec: seconds(0.1, 'How often the folder is searched for what no event announced (default 10).'),
  poll: z.boolean().optional().meta({ description: 'Search only: no events, for network shares.' }),
})

/** What is called after a file was published: a program, without a shell, or a web address. */
const afterSchema = z.strictObject({
  command: z.array(z.string().min(1)).min(1).optional().meta({
    description:
      'Program and its first arguments; status, output, source and preset follow, and stand in VOXMUX_STATUS, VOXMUX_OUTPUT, VOXMUX_SOURCE, VOXMUX_PRESET.',
  }),
  webhook: z
    .url({ protocol: /^https?$/, error: 'must be an http or https address' })
    .optional()
    .meta({ description: 'Address that gets the same four as JSON, by POST.' }),
})
export type WatchAfter = z.infer<typeof afterSchema>

/** One watched folder. */
const watchFolderSchema = takingSchema.extend({
  path: z.string().min(1).meta({ description: 'The folder.' }),
  out: folder('Where finished files go (default `out` in the folder).'),
  failed: folder('Where reports of failed files go (default `failed` in the folder).'),
  preset: z.string().min(1).optional().meta({ description: 'Preset of its files, by name or path.' }),
  source: z
    .enum(['keep', 'move'])
    .optional()
    .meta({ description: 'What becomes of a source that was published: it stays (default), or moves to `done`.' }),
  done: folder('Where sources move to with `"source": "move"` (default `done` in the folder).'),
  name: z.string().min(1).optional().meta({
    description:
      'Name of an output below `out`, from {folder}, {name}, {ext}, {preset}, {date} (default `{folder}/{name}{ext}`).',
  }),
  include: globs('Only files whose path in the folder matches one of these, for example `**/*.mov`.'),
  exclude: globs('No files whose path in the folder matches one of these.'),
  priority: z.int().min(-1000).max(1000).optional().meta({ description: 'Higher is sooner (default 0).' }),
  marker: z
    .string()
    .min(1)
    .regex(/^(?!\{name\}$)[^/\\]*\{name\}[^/\\]*$/, 'must be a file name with {name} in it, for example {name}.done')
    .optional()
    .meta({ description: 'A file is taken only while a file of this name lies beside it, for example `{name}.done`.' }),
  renamedFrom: z
    .string()
    .min(1)
    .regex(
      /^(?!\{name\}$)[^/\\]*\{name\}[^/\\]*$/,
      'must be a file name with {name} in it, for example {name}.uploading',
    )
    .optional()
    .meta({
      description:
        'The copy tool gives a file this name until it is whole, for example `{name}.uploading`: passed over.',
    }),
  after: afterSchema.optional().meta({ description: 'What is called after each published file.' }),
})
export type WatchFolderSettings = z.infer<typeof watchFolderSchema>

/** The page, the health answers and the metrics. */
const dashboardSchema = z.strictObject({
  port: z
    .int()
    .min(0)
    .max(65_535)
    .optional()
    .meta({ description: 'Port of the dashboard, health answers and metrics; 0 takes any; left out, there are none.' }),
  host: z.string().min(1).optional().meta({
    description: 'Address to listen at (default 127.0.0.1). Elsewhere a proxy with a login belongs before it.',
  }),
  hosts: z
    .array(z.string().min(1))
    .optional()
    .meta({ description: 'Names under which it may be asked for besides its own, as in the Host header.' }),
})

/** The key `watch`: the folders of `voxmux watch`, and what holds for each that does not say otherwise. */
export const watchSchema = takingSchema.extend({
  folders: z.array(watchFolderSchema).optional().meta({ description: 'The watched folders.' }),
  dashboard: dashboardSchema.optional().meta({ description: 'Where the page of `voxmux watch` is served.' }),
})
export type WatchSettings = z.infer<typeof watchSchema>
