import { PendingError, UsageError } from '../../src/core/errors.js'
import type { Logger } from '../../src/core/logger.js'
import type { JobEvent } from '../../src/pipeline/events.js'
import { runRequests } from '../../src/runtime/run-requests.js'
import type { StepJob, StepOptions } from './step-options.js'
import { type FinishedStep, resultOf, type StepResult } from './step-result.js'

const isFunction = (value: unknown) => typeof value === 'function'

const isText = (value: unknown) => typeof value === 'string'

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isLogger = (value: unknown) =>
  isObject(value) && ['debug', 'info', 'warn', 'error'].every((level) => isFunction(value[level]))

const isSignal = (value: unknown) =>
  isObject(value) && typeof value.aborted === 'boolean' && isFunction(value.addEventListener)

const CHECKS: Readonly<Record<string, Check>> = {
  signal: [isSignal, 'an AbortSignal'],
  onProgress: [isFunction, 'a function'],
  logger: [isLogger, 'an object with debug, info, warn and error'],
  waitSec: [(value) => typeof value === 'number' && value >= 0, 'seconds from 0'],
  cwd: [isText, 'the path of a folder'],
  env: [isObject, 'an object such as process.env'],
  config: [isText, 'the path of a configuration file'],
  settings: [isObject, "an object such as { profile: 'sandbox' }"],
}

/**
 * Regenerates the voice of one file: a step of a render script.
 *
 *     const { output, receipt } = await scriptStep({ input: 'take.mov', output: 'out/', preset: 'podcast' })
 *
 * You can repeat a step: it continues an unfinished job, and is `skipped` if its output exists. Any number can run at
 * once. They share the connection to the service and the limits of the machine. A step never ends the process or writes
 * to stdout. If no service is configured, it uses the embedded one.
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

type Check = readonly [isRight: (value: unknown) => boolean, mustBe: string]

/**
 * Checks the options of a step for callers without a compiler. A mistyped option would do nothing, and `waitsec: 0` would
 * wait without limit.
 *
 * @throws {UsageError} `ERR_STEP_OPTION`
 */
function requireStepOptions(options: unknown): void {
  if (!isObject(options)) throw wrong('The options of a step must be an object.')
  for (const [name, value] of Object.entries(options)) {
    const check = Object.hasOwn(CHECKS, name) ? CHECKS[name] : undefined
    if (!check) throw wrong(`A step has no option "${name}".`)
    const [isRight, mustBe] = check
    if (value !== undefined && !isRight(value)) throw wrong(`The option "${name}" of a step must be ${mustBe}.`)
  }
}

function wrong(message: string): UsageError {
  return new UsageError('ERR_STEP_OPTION', message, {
    remedies: ['Use one of the options signal, onProgress, logger, waitSec, cwd, env, config and settings.'],
  })
}
