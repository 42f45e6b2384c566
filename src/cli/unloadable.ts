import { randomUUID } from 'node:crypto'
import { errorReport, toVoxmuxError, type VoxmuxError } from '../core/errors.js'
import type { EVENT_SCHEMA_VERSION, ResultEvent } from '../pipeline/events.js'
import { oldNode } from './old-node.js'

/**
 * Reports that the command's own modules could not be read, because Node is too old or too few files may be open.
 * It imports almost nothing, because it would meet the same fault.
 */
export function reportUnloadable(argv: readonly string[], thrown: unknown): void {
  const known = toVoxmuxError(thrown)
  const error = known.code === 'ERR_INTERNAL' ? (oldNode(process.versions.node) ?? known) : known
  const remedies = error.remedies.map((remedy) => `  → ${remedy}\n`).join('')
  process.stderr.write(`voxmux: ${error.message}\n${remedies}`)
  if (argv.includes('--json')) process.stdout.write(`${JSON.stringify(resultOf(error))}\n`)
  process.exitCode = error.exitCode
}

/** Typed as the last event of any command. The version stands here, because the schemas cannot be imported. */
function resultOf(error: VoxmuxError): ResultEvent & { readonly schemaVersion: typeof EVENT_SCHEMA_VERSION } {
  return {
    event: 'result',
    schemaVersion: 1,
    id: randomUUID(),
    exitCode: error.exitCode,
    done: 0,
    skipped: 0,
    rejected: 0,
    failed: 0,
    pending: 0,
    files: [],
    status: null,
    output: null,
    receipt: null,
    error: errorReport(error),
  }
}
