import type { Job } from '../jobs/index.js'

/** A job in one line: id, state, when, input. */
export function jobLine({ id, status, updatedMs, input }: Job): string {
  return `${id}  ${status.padEnd(14)}  ${timestamp(updatedMs)}  ${input}`
}

/** All that the ledger holds of a job, for people. */
export function jobDetails(job: Job): string {
  const rows: readonly (readonly [string, string | null])[] = [
    ['id', job.id],
    ['status', job.status],
    ['input', job.input],
    ['output', job.output],
    ['receipt', job.receipt],
    ['preset', job.preset],
    ['attempts', String(job.attempts)],
    ['created', timestamp(job.createdMs)],
    ['updated', timestamp(job.updatedMs)],
    ['worked on by', job.holder ? `process ${job.holder.pid} on ${job.holder.host}` : null],
    ['error', job.error ? `${job.error.code}: ${job.error.message}` : null],
    ['state', Object.keys(job.state).length > 0 ? JSON.stringify(job.state) : null],
  ]
  return rows.flatMap(([name, value]) => (value === null ? [] : [`${name.padEnd(13)} ${value}`])).join('\n')
}

function timestamp(ms: number): string {
  return new Date(ms).toISOString().replace('T', ' ').slice(0, 19)
}
