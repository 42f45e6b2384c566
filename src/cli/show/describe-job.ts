import { visibleText } from '../../core/visible-text.js'
import type { Job } from '../../ledger/index.js'
import type { Receipt } from '../../pipeline/output/receipt.js'

/** Lists jobs, each with its age, and with its output or its last error below. */
export function jobTable(jobs: readonly Job[], nowMs: number): string {
  return `${jobRow('job', 'status', 'age', 'file')}\n${jobLines(jobs, nowMs)}`
}

/** Lists further jobs below a {@link jobTable}. */
export function jobLines(jobs: readonly Job[], nowMs: number): string {
  return jobs.map((job) => jobLine(job, nowMs)).join('\n')
}

/** Formats a job: id, state, time since its last change, input, and below that its output or its last error. */
function jobLine(job: Job, nowMs: number): string {
  const { id, status, updatedMs, input, output, error } = job
  const shown = shownFiles(job)
  const below = error ? `✖ ${error.message}` : status === 'done' && output !== null ? `→ ${output}` : null
  const line = jobRow(id, status, age(nowMs - updatedMs), shown(input))
  return below === null ? line : `${line}\n    ${shown(below)}`
}

function jobRow(id: string, status: string, since: string, file: string): string {
  return `${id.padEnd(26)}  ${status.padEnd(14)}  ${since.padStart(6)}  ${file}`
}

/** The file of a pipe, in a folder that is gone when its command ends. */
const PIPED = /[/\\]pipes[/\\][^/\\]+-\d+-\w+[/\\](stdin|stdout\.\w+)$/

/** Names the files of a pipe stdin and stdout, as the command did that was given them. */
function shownFiles({ input, output }: Job): (text: string) => string {
  const piped = [input, output].flatMap((path) => {
    const name = PIPED.exec(path ?? '')?.[1]
    return path === null || name === undefined ? [] : [[path, name] as const]
  })
  return (text) => visibleText(piped.reduce((rest, [path, name]) => rest.replaceAll(path, name), text))
}

/** A rounded time, such as `5 min` or `3 d`. */
function age(ms: number): string {
  const sec = Math.max(0, Math.round(ms / 1000))
  if (sec < 60) return `${sec} s`
  if (sec < 3600) return `${Math.floor(sec / 60)} min`
  return sec < 2 * 86_400 ? `${Math.floor(sec / 3600)} h` : `${Math.floor(sec / 86_400)} d`
}

/** Formats a job for people. Its whole state is in the JSON. */
export function jobDetails(job: Job): string {
  const shown = shownFiles(job)
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
    ...(job.error?.remedies ?? []).map((remedy) => ['', `→ ${remedy}`] as const),
    ['group', job.group],
    ...fileIds(job).map((id) => ['file id', id] as const),
  ]
  return rows.flatMap(([name, value]) => (value === null ? [] : [`${name.padEnd(13)} ${shown(value)}`])).join('\n')
}

/** The service's file ids of a published output. */
function fileIds({ state }: Job): readonly string[] {
  const { voices = [] } = (state.receipt ?? {}) as Partial<Receipt>
  return voices.flatMap(({ fileId }) => fileId ?? [])
}

function timestamp(ms: number): string {
  return new Date(ms).toISOString().replace('T', ' ').slice(0, 19)
}
