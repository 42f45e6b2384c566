import { AsyncLocalStorage } from 'node:async_hooks'
import type { Logger } from '../core/logger.js'
import { thrownMessage } from '../core/thrown-message.js'

/** Whose code is running. */
export interface PluginScope {
  readonly name: string
  readonly logger: Logger
}

const running = new AsyncLocalStorage<PluginScope>()

/** Runs code of a plugin so that its faults are known as its own, also those of what it starts and does not wait for. */
export function inScope<T>(scope: PluginScope, work: () => T): T {
  return running.run(scope, work)
}

const LISTENERS = { unhandledRejection: sayRejection, uncaughtException: sayException } as const
let users = 0

/**
 * From now on a fault that a plugin leaves uncaught (a request it does not wait for) is a warning with its name, and
 * does not end a process that is at work on other jobs. Faults of anybody else end it as ever.
 *
 * @returns ends that
 */
export function outliveLooseFaults(): () => void {
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

function sayRejection(reason: unknown): void {
  if (isSaid(reason) || process.listenerCount('unhandledRejection') > 1) return
  leaveToNode(reason)
}

function sayException(error: unknown): void {
  if (isSaid(error) || process.listenerCount('uncaughtException') > 1) return
  leaveToNode(error)
}

function isSaid(fault: unknown): boolean {
  const scope = running.getStore()
  scope?.logger.warn(
    { plugin: scope.name, cause: fault },
    `The plugin "${scope.name}" left a fault uncaught: ${thrownMessage(fault)}. It must wait for what it starts (await).`,
  )
  return scope !== undefined
}

/** Nobody's that is known: as if nobody had listened. */
function leaveToNode(fault: unknown): void {
  stopListening()
  setImmediate(() => {
    throw fault
  })
}
