import { AsyncLocalStorage } from 'node:async_hooks'
import { thrownMessage } from '../core/errors.js'
import type { Logger } from '../core/logger.js'

/** The extension whose code is running. */
export interface ExtensionScope {
  readonly name: string
  readonly logger: Logger
}

const running = new AsyncLocalStorage<ExtensionScope>()

/** Runs code of an extension, whose faults are attributed to it, also those of calls that it does not await. */
export function inScope<T>(scope: ExtensionScope, work: () => T): T {
  return running.run(scope, work)
}

const LISTENERS = { unhandledRejection: reportRejection, uncaughtException: reportException } as const
let users = 0

/**
 * Turns a fault that an extension leaves uncaught, such as a request without await, into a warning with its name. The
 * process and its other jobs continue. Faults of other code end the process as usual.
 *
 * @returns a function that ends this
 */
export function catchLooseErrors(): () => void {
  users += 1
  if (users === 1) for (const [event, listener] of Object.entries(LISTENERS)) process.on(event, listener)
  let isOver = false
  return () => {
    if (isOver) return
    isOver = true
    users -= 1
    if (users === 0) stopListening()
  }
}

function stopListening(): void {
  for (const [event, listener] of Object.entries(LISTENERS)) process.off(event, listener)
}

function reportRejection(reason: unknown): void {
  if (isSaid(reason) || process.listenerCount('unhandledRejection') > 1) return
  leaveToNode(reason)
}

function reportException(error: unknown): void {
  if (isSaid(error) || process.listenerCount('uncaughtException') > 1) return
  leaveToNode(error)
}

function isSaid(fault: unknown): boolean {
  const scope = running.getStore()
  scope?.logger.warn(
    { extension: scope.name, cause: fault },
    `The extension "${scope.name}" did not catch a fault: ${thrownMessage(fault)}. It must await every call that it starts.`,
  )
  return scope !== undefined
}

/** Rethrows a fault of unknown origin, as if there were no listener. */
function leaveToNode(fault: unknown): void {
  stopListening()
  setImmediate(() => {
    throw fault
  })
}
