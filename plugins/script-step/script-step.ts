import { PendingError } from '../../src/core/errors.js'
import type { Logger } from '../../src/core/logger.js'
import type { JobEvent } from '../../src/pipeline/events.js'
import { runRequests } from '../../src/runtime/run-requests.js'
import { requireStepOptions } from './require-step-options.js'
import type { StepJob, StepOptions } from './step-options.js'
import { type FinishedStep, resultOf, type StepResult } from './step-result.js'

/**
 * Regenerates the voice of one file: a step of a render script.
 *
 *     const { output, receipt } = await scriptStep({ input: 'take.mov', output: 'out/', preset: 'podcast' })
 *
 * You can repeat a step: it continues an unfinished job, and is `skipped` if its output exists. Any number can run at
 * once. They share the connection to the service and the limits of the machine. A step never ends the process or writes
 * to stdout. If no service is configured, it uses the built-in one.
 *
 * @throws {UsageError} for a wrong job, configuration or path
 * @throws {PrecheckError} if the file is refused before anything is sent
 * @throws {VoxmuxError} JobFailedError, TransientError, AccessError, VerificationError or InterruptedError, with `code`,
 *   `exitCode` (that of the command line), `remedies`, and the `errorCode` of the service if it has one
 */
export async function scriptStep(
  job: StepJob,
  options?: StepOptions & { readonly waitSec?: undefined },
): Promise<FinishedStep>
export async function scriptStep(job: StepJob, options: StepOptions): Promise<StepResult>
export async function scriptStep(job: StepJob, options: StepOptions = {}): Promise<StepResult> {
  requireStepOptions(options)
  const { onProgress, ...rest } = options
  const [outcome] = await runRequests([job], { ...rest, onEvent: onProgress && listener(onProgress, rest.logger) })
  if (!outcome) throw new Error('A step ended without an outcome.')
  if (outcome.error && !(outcome.error instanceof PendingError)) throw outcome.error
  return resultOf(outcome)
}

/** A fault of the listener must not fail a paid step. */
function listener(onProgress: NonNullable<StepOptions['onProgress']>, logger: Logger | undefined) {
  return (event: JobEvent): void => {
    if (event.event !== 'progress') return
    const { event: _, ...progress } = event
    // The rejection of an async listener would otherwise end the script.
    new Promise((resolve) => resolve(onProgress(progress))).catch((cause: unknown) => {
      logger?.warn({ cause, input: event.input }, 'The onProgress listener of a step failed.')
    })
  }
}
