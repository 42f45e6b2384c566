import { UsageError } from '../../src/core/errors.js'

type Check = readonly [isRight: (value: unknown) => boolean, mustBe: string]

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
  onEvent: [isFunction, 'a function'],
  logger: [isLogger, 'an object with debug, info, warn and error'],
  waitSec: [(value) => typeof value === 'number' && value >= 0, 'seconds from 0'],
  lingerMs: [(value) => typeof value === 'number' && value >= 0, 'milliseconds from 0'],
  cwd: [isText, 'the path of a folder'],
  env: [isObject, 'an object such as process.env'],
  config: [isText, 'the path of a configuration file'],
  settings: [isObject, "an object such as { profile: 'sandbox' }"],
}

/**
 * Checks the options of a step for callers without a compiler. A mistyped option would do nothing, and `waitsec: 0` would
 * wait without limit.
 *
 * @throws {UsageError} `ERR_STEP_OPTION`
 */
export function requireStepOptions(options: unknown): void {
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
