import type { ErrorReport } from '../../core/errors.js'
import type { FileIdentity, Job, JobRequest, JobState, JobStatus } from '../jobs/job.js'
import type { Holder } from '../leases/holder.js'
import { hashOf } from './hash-of.js'

/**
 * BullMQ's priorities go from 1 to 2^21, and the lowest number runs first. Ours are centered on the middle, and the
 * highest runs first. A priority out of range becomes the nearest one in range.
 */
const MIDDLE = 2 ** 20

export function bullPriority(priority: number): number {
  return Math.max(1, Math.min(2 * MIDDLE, MIDDLE - Math.round(priority)))
}

/** The part of a request that never changes: BullMQ's `data`, which its own tools show. */
type JobData = Pick<JobRequest, 'key' | 'group' | 'recipeHash' | 'preset'>

export function jobData({ key, group, recipeHash = '', preset = null }: JobRequest): string {
  return JSON.stringify({ key, group, recipeHash, preset } satisfies JobData)
}

/** The fields of a job's hash that a change writes, flat. Each property of the state has its own field, to be replaced whole. */
export function jobFields(change: {
  readonly state?: JobState | undefined
  readonly input?: string | undefined
  readonly inputIdentity?: FileIdentity | null | undefined
  readonly output?: string | null | undefined
  readonly publishedSha256?: string | undefined
  readonly notBeforeMs?: number | null | undefined
  readonly error?: ErrorReport | undefined
  readonly receipt?: string | null | undefined
}): string[] {
  const { state = {}, input, inputIdentity, output, publishedSha256, notBeforeMs, error, receipt } = change
  const fields: string[] = []
  for (const [name, value] of Object.entries(state))
    if (value !== undefined) fields.push(`_state.${name}`, JSON.stringify(value))
  if (input !== undefined) fields.push('_input', input)
  if (inputIdentity) fields.push('_identity', JSON.stringify(inputIdentity))
  if (typeof output === 'string') fields.push('_output', output)
  if (publishedSha256 !== undefined) fields.push('_published', publishedSha256)
  if (typeof notBeforeMs === 'number') fields.push('_notBefore', String(Math.ceil(notBeforeMs)))
  if (error) fields.push('_error', JSON.stringify(error))
  if (typeof receipt === 'string') fields.push('_receipt', receipt)
  return fields
}

/** Reads a job from the answer of a script (names and values in turn). Null if there is none. */
export function jobOf(flat: unknown): Job | null {
  const hash = hashOf(flat)
  const data = hash.get('data')
  const id = hash.get('_id')
  if (data === undefined || id === undefined) return null
  const { key, group, recipeHash, preset } = JSON.parse(data) as Required<JobData>
  const holder = json<Holder>(hash.get('_holder'))
  const notBefore = hash.get('_notBefore')
  return {
    id,
    ...{ key, group, recipeHash, preset },
    input: hash.get('_input') ?? '',
    priority: MIDDLE - Number(hash.get('priority')),
    status: hash.get('_status') as JobStatus,
    attempts: Number(hash.get('_attempts')),
    notBeforeMs: notBefore === undefined ? null : Number(notBefore),
    inputIdentity: json<FileIdentity>(hash.get('_identity')),
    output: hash.get('_output') ?? null,
    state: Object.fromEntries(
      [...hash].flatMap(([name, value]) => (name.startsWith('_state.') ? [[name.slice(7), JSON.parse(value)]] : [])),
    ),
    error: json<ErrorReport>(hash.get('_error')),
    receipt: hash.get('_receipt') ?? null,
    publishedSha256: hash.get('_published') ?? null,
    createdMs: Number(hash.get('timestamp')),
    updatedMs: Number(hash.get('_updated')),
    holder: holder && { host: holder.host.split(' ', 1).join(), pid: holder.pid },
  }
}

/** Like {@link jobOf}, if the script always returns a job. */
export function jobIn(flat: unknown): Job {
  const job = jobOf(flat)
  if (!job) throw new Error('A job vanished within a script.')
  return job
}

function json<T>(text: string | undefined): T | null {
  return text === undefined ? null : (JSON.parse(text) as T)
}
