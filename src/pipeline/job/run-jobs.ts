import PQueue from 'p-queue'
import { type ExitCode, InterruptedError, overallExitCode, type VoxmuxError } from '../../core/errors.js'
import type { JobRunOptions, PipelineContext } from '../context.js'
import type { PlanRequest } from '../plan/plan-job.js'
import { concernsAccount, type JobOutcome, outcomeOfError } from './job-outcome.js'
import { runJob } from './run-job.js'

interface RunJobsOptions extends JobRunOptions {
  /** Number of files in progress at the same time. */
  readonly concurrency: number
}

/**
 * Runs many jobs to their ends, independently of each other. A fault of the account (credits, access) stops the intake:
 * files that have not begun stay `pending` and do not fail.
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
        const outcome = await runJob(request, context, options)
        if (outcome.error && concernsAccount(outcome.error)) stopped = outcome.error
        return outcome
      }),
    ),
  )
}

/** The exit code of several outcomes: the gravest one, in the order of the contract. */
export function exitCodeOf(outcomes: readonly JobOutcome[]): ExitCode {
  return overallExitCode(outcomes.map(({ error }) => error?.exitCode ?? 0))
}
