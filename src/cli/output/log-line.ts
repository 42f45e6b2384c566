import { basename } from 'node:path'
import { harmless } from './file-line.js'

/** Words a log entry for people. Null for the steps and failures of jobs, which the bars and the file lines show. */
export function logLine(fields: object, message: string): string | null {
  const { job, code, stage, status, group, folder, out, preset, input, to } = fields as Readonly<
    Record<string, unknown>
  >
  if (job !== undefined && [code, stage, status, group, folder].some((field) => field !== undefined)) return null
  if (typeof out === 'string') return harmless(`${message} ${folder} → ${out} (${preset})`)
  if (typeof to === 'string') return harmless(`${message} to ${to}`)
  return harmless(typeof input === 'string' ? `${basename(input)}: ${message}` : message)
}
