import PQueue from 'p-queue'
import { type ExitCode, InterruptedError, overallExitCode, type VoxmuxError } from '../core/errors.js'
import type { JobRunOptions, PipelineContext } from './context.js'
import { isWebAddress } from './expand-inputs.js'
import { concernsAccount, type JobOutcome, outcomeOfError } from './job-outcome.js'
import type { PlanRequest } from './plan-job.js'
import { runJob } from './run-job.js'
import { runRemoteJob } from './run-remote-job.js'
import { runWebJob } from './run-web-job.js'

export interface RunJobsOptions extends JobRunOptions {
  /** Files that are worked on at the same time. */
  readonly concurrency: number
}

/**
 * Runs many jobs, each to its end, one not holding up the others. What concerns the whole account (credits, access)
 * stops the intake: files not begun stay `pending` and none of them fails for it.
 *
 * @returns the outcomes in the order of the requests
 */
export async function runJobs(
  requests: readonly PlanRequest[],
  context: PipelineContext,
  options: RunJobsOptions,
): Promise<readonly JobOutcome[]> {
  const queue = new PQueue({ concurrency: options.concurrency })
  let stopped: VoxmuxError | undefined
  return Promise.all(
    requests.map((request) =>
      queue.add(async () => {
        if (options.signal?.aborted) stopped ??= new InterruptedError()
        if (stopped) {
          const left = outcomeOfError({ id: request.provisionalId, input: request.input }, stopped, 'pending')
          options.onEvent?.(left.event)
          return left
        }
        const outcome = await runnerOf(request)(request, context, options)
        if (outcome.error && concernsAccount(outcome.error)) stopped = outcome.error
        return outcome
      }),
    ),
  )
}

function runnerOf({ input, remote }: PlanRequest) {
  if (remote) return runRemoteJob
  return isWebAddress(input) ? runWebJob : runJob
}

/** The exit code of several outcomes: the gravest single one, in the order of the contract. */
export function exitCodeOf(outcomes: readonly JobOutcome[]): ExitCode {
  return overallExitCode(outcomes.map(({ error }) => error?.exitCode ?? 0))
}
