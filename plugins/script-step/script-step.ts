import { type JobEvent, type Logger, PendingError } from 'voxmux'
import { requireStepOptions } from './require-step-options.js'
import { runSteps } from './run-steps.js'
import type { StepJob, StepOptions } from './step-options.js'
import { type FinishedStep, resultOf, type StepResult } from './step-result.js'

/**
 * Regenerates the voice of one file: a step of a render script.
 *
 *     const { output, receipt } = await scriptStep({ input: 'take.mov', output: 'out/', preset: 'podcast' })
 *
 * The same step again is safe: it attaches to what is going on, or is `skipped` where its output stands already. Any
 * number may run at once; they share what they need of the service, and the machine's load is bounded. It never ends
 * the process and never writes to stdout. With no service configured the embedded one works.
 *
 * @throws UsageError for a wrong job, configuration or path; PrecheckError where the file is refused before anything
 *   is sent; JobFailedError, TransientError, AccessError, VerificationError, InterruptedError: each with `code`,
 *   `exitCode` (as the command line would end), `remedies`, and the service's `errorCode` where there is one
 */
export async function scriptStep(
  job: StepJob,
  options?: StepOptions & { readonly waitSec?: undefined },
): Promise<FinishedStep>
export async function scriptStep(job: StepJob, options: StepOptions): Promise<StepResult>
export async function scriptStep(job: StepJob, options: StepOptions = {}): Promise<StepResult> {
  requireStepOptions(options)
  const { onProgress, ...rest } = options
  const [outcome] = await runSteps([job], { ...rest, onEvent: onProgress && listener(onProgress, rest.logger) })
  if (!outcome) throw new Error('A step ended without an outcome.')
  if (outcome.error && !(outcome.error instanceof PendingError)) throw outcome.error
  return resultOf(outcome)
}

/** A listener's own fault must not cost a step that was paid for. */
function listener(onProgress: NonNullable<StepOptions['onProgress']>, logger: Logger | undefined) {
  return (event: JobEvent): void => {
    if (event.event !== 'progress') return
    const { event: _, ...progress } = event
    // One that is async would otherwise end the script with its rejection.
    new Promise((resolve) => resolve(onProgress(progress))).catch((cause: unknown) => {
      logger?.warn({ cause, input: event.input }, 'The listener to the progress of a step failed.')
    })
  }
}
