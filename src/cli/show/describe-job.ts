import { visibleText } from '../../core/visible-text.js'
import type { Job } from '../../ledger/index.js'

/** Formats a job in one line: id, state, time, input. */
export function jobLine({ id, status, updatedMs, input }: Job): string {
  return `${id}  ${status.padEnd(14)}  ${timestamp(updatedMs)}  ${visibleText(input)}`
}

/** Formats all that the ledger holds about a job. */
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
    ['processed by', job.holder ? `process ${job.holder.pid} on ${job.holder.host}` : null],
    ['error', job.error ? `${job.error.code}: ${job.error.message}` : null],
    ['state', Object.keys(job.state).length > 0 ? JSON.stringify(job.state) : null],
  ]
  return rows
    .flatMap(([name, value]) => (value === null ? [] : [`${name.padEnd(13)} ${visibleText(value)}`]))
    .join('\n')
}

function timestamp(ms: number): string {
  return new Date(ms).toISOString().replace('T', ' ').slice(0, 19)
}
