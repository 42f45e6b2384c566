import { toVoxmuxError } from '../core/errors.js'
import { redactUrl } from '../core/redact.js'
import type { JobRunOptions, PipelineContext } from './context.js'
import { type JobOutcome, outcomeOfError } from './job-outcome.js'
import type { PlanRequest } from './plan-job.js'
import { runJob } from './run-job.js'
import { withDownload } from './with-download.js'

/**
 * Runs a job whose input is an address: downloaded into the state folder, treated as a local file, and deleted. The
 * output goes to the working folder where no other is named.
 */
export async function runWebJob(
  request: PlanRequest,
  context: PipelineContext,
  options: JobRunOptions = {},
): Promise<JobOutcome> {
  const shown = redactUrl(request.input)
  const output = request.output ?? `${request.cwd}/`
  try {
    const outcome = await withDownload(request.input, context, options.signal, (local) =>
      runJob({ ...request, input: local, output }, context, {
        ...options,
        onEvent: (event) => options.onEvent?.({ ...event, input: shown }),
      }),
    )
    return { ...outcome, event: { ...outcome.event, input: shown } }
  } catch (thrown) {
    const error = toVoxmuxError(thrown, shown)
    const outcome = outcomeOfError({ id: request.provisionalId, input: shown }, error)
    options.onEvent?.(outcome.event)
    return outcome
  }
}
