import { mkdir, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { downloadAddress } from '../client/index.js'
import { toVoxmuxError } from '../core/errors.js'
import { redactUrl } from '../core/redact.js'
import type { JobRunOptions, PipelineContext } from './context.js'
import { valueSha256 } from './file-identity.js'
import { type JobOutcome, outcomeOfError } from './job-outcome.js'
import type { PlanRequest } from './plan-job.js'
import { runJob } from './run-job.js'

/** Names that a file system takes from any address. */
const UNSAFE = /[^\p{L}\p{N}._ -]/gu

/**
 * Runs a job whose input is an address: downloaded into the state folder, treated as a local file, and deleted. The
 * output goes to the working folder where no other is named.
 */
export async function runWebJob(
  request: PlanRequest,
  context: PipelineContext,
  options: JobRunOptions = {},
): Promise<JobOutcome> {
  const address = request.input
  const shown = redactUrl(address)
  const folder = join(context.stateDir, 'downloads', valueSha256(address))
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const local = join(folder, fileName(address))
    await downloadAddress(address, local, { signal: options.signal, logger: context.logger })
    const output = request.output ?? `${request.cwd}/`
    const outcome = await runJob({ ...request, input: local, output }, context, {
      ...options,
      onEvent: (event) => options.onEvent?.({ ...event, input: shown }),
    })
    return { ...outcome, event: { ...outcome.event, input: shown } }
  } catch (thrown) {
    const error = toVoxmuxError(thrown, shown)
    const outcome = outcomeOfError({ id: request.provisionalId, input: shown }, error)
    options.onEvent?.(outcome.event)
    return outcome
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function fileName(address: string): string {
  const last = basename(new URL(address).pathname)
  const name = (decodeOrKeep(last).replace(UNSAFE, '_') || 'download').replace(/^\.+/, '_')
  return Buffer.byteLength(name) > 200 ? name.slice(-100) : name
}

function decodeOrKeep(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
