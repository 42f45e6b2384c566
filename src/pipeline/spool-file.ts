import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { z } from 'zod'
import { UsageError } from '../core/errors.js'
import { type JobRequestFile, jobRequestSchema } from './job-request-schema.js'

/** Jobs are a few lines; a film that somebody drops here by mistake is not read. */
const MAX_BYTES = 1024 ** 2

export interface SpoolFile {
  readonly text: string
  /** When it was last written: tells it from another of the same name. */
  readonly writtenMs: number
}

/** @throws UsageError `ERR_SPOOL_JOB` */
export function requestsOf(text: string, path: string): readonly JobRequestFile[] {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (cause) {
    throw notAJob(path, 'it is not JSON', cause)
  }
  const read = z
    .array(jobRequestSchema)
    .min(1)
    .safeParse(Array.isArray(json) ? json : [json])
  if (read.success) return read.data
  throw notAJob(path, z.prettifyError(read.error).replaceAll('\n', '; '), read.error)
}

/**
 * Reads a file of a spool folder. A link is not followed: whoever may write here need not be able to read what it
 * points to.
 *
 * @throws UsageError `ERR_SPOOL_JOB`; what the file system says
 */
export async function readSpoolFile(path: string): Promise<SpoolFile> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch((cause) => {
    throw (cause as NodeJS.ErrnoException).code === 'ELOOP' ? notAJob(path, 'it is a link', cause) : cause
  })
  try {
    const found = await file.stat()
    if (!found.isFile()) throw notAJob(path, 'it is not a file')
    if (found.size > MAX_BYTES) throw notAJob(path, 'it is too long for a job')
    return { text: await file.readFile('utf8'), writtenMs: found.mtimeMs }
  } finally {
    await file.close()
  }
}

function notAJob(path: string, why: string, cause?: unknown): UsageError {
  return new UsageError('ERR_SPOOL_JOB', `${path} is not a job: ${why}.`, {
    cause,
    input: path,
    remedies: ['`voxmux step --schema` prints what a job may hold.'],
  })
}
