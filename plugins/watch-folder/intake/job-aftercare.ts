import { join } from 'node:path'
import { z } from 'zod'
import { BESIDE } from '../../../src/config/watch-schema.js'
import type { JobFacts } from '../../../src/pipeline/job-hooks.js'
import { isBelow } from '../folders/require-inside.js'
import type { Aftercare } from '../watched-folder.js'
import { takenFileOf } from './taken-file.js'

const aftercareSchema = z.object({
  path: z.string(),
  out: z.string(),
  failed: z.string(),
  done: z.string(),
  source: z.enum(['keep', 'move']),
  /** Beside the file, because a row must not move others. */
  marker: z.string().regex(BESIDE).nullable().default(null),
  webhook: z.string().nullable(),
  /** True if the folder has a command. The command itself never comes from a job: it would run code. */
  hasCommand: z.boolean(),
})

/** Data of a job that name what becomes of its file. A worker does not need the folder's configuration then. */
export function aftercareData(folder: Aftercare): z.infer<typeof aftercareSchema> {
  const { path, out, failed, done, source, after, filter } = folder
  const marker = filter?.marker ?? null
  return {
    path,
    out,
    failed,
    done,
    source,
    marker,
    webhook: after?.webhook ?? null,
    hasCommand: after?.command !== undefined,
  }
}

/** The aftercare of a job. Null if it is for another file than its input: a row must not move other files. */
export function aftercareOf({ group, input, data }: Pick<JobFacts, 'group' | 'input' | 'data'>) {
  const read = aftercareSchema.safeParse(data.aftercare)
  const file = takenFileOf(data)
  if (!read.success || file === null) return null
  const { webhook, hasCommand, marker, ...folders } = read.data
  if (join(folders.path, file.path) !== input || file.path.split(/[/\\]/).includes('..')) return null
  if (!isBelow(folders.path, input)) return null
  const after = webhook === null ? null : { webhook }
  const folder: Aftercare = { group, ...folders, after, ...(marker !== null && { filter: { marker } }) }
  return { folder, hasCommand }
}
