import { checkSchema } from '../config/check-schema.js'
import { UsageError } from '../core/errors.js'
import { type JobRequestFile, jobRequestSchema } from './job-request-schema.js'

/**
 * Reads jobs that another program wrote: one, or a list of them. All are right, or none is taken.
 *
 * @param value what was parsed from JSON
 * @throws UsageError `ERR_JOB_REQUEST`, naming the job, each wrong key with the nearest right one, and each wrong value
 */
export function readJobRequests(value: unknown): readonly JobRequestFile[] {
  if (!Array.isArray(value)) return [readJobRequest(value, 'The job')]
  if (value.length === 0) throw wrong('The list of jobs is empty.')
  if (value.length === 1) return [readJobRequest(value[0], 'The job')]
  return value.map((job, index) => readJobRequest(job, `Job ${index + 1} of ${value.length}`))
}

function readJobRequest(value: unknown, source: string): JobRequestFile {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw wrong(`${source} must be an object such as {"input":"take.wav"}.`)
  }
  try {
    return checkSchema(jobRequestSchema, value, source)
  } catch (cause) {
    throw cause instanceof UsageError ? wrong(cause.message, cause) : cause
  }
}

function wrong(message: string, cause?: unknown): UsageError {
  return new UsageError('ERR_JOB_REQUEST', message, {
    cause,
    remedies: ['`voxmux step --schema` prints what a job may hold.'],
  })
}
