import { errorReport, type VoxmuxError } from '../../src/core/errors.js'

/** The result of a tool: as data, and as text for clients that take only text. A failed job is an error. */
export function toolResult(data: object) {
  const isError = 'status' in data && (data.status === 'failed' || data.status === 'rejected')
  return { content: [{ type: 'text', text: JSON.stringify(data) }], structuredContent: data, isError }
}

/** A refusal, with code and remedies as in the events of `--json`. */
export function toolFault(error: VoxmuxError) {
  return toolResult({ status: 'failed', error: errorReport(error) })
}
