import { InterruptedError } from '../core/errors.js'
import { inScope, type PluginScope } from './plugin-scope.js'

/** How long a plugin is waited for before people are told so. */
const PATIENCE_MS = 60_000
/** How long it may go on after the job was interrupted: less than an orderly end of the process takes at most. */
const GRACE_MS = 3000

export interface PluginWait {
  readonly scope: PluginScope
  /** What is waited for, in messages. */
  readonly what: string
  readonly signal?: AbortSignal | undefined
  readonly patienceMs?: number | undefined
  readonly graceMs?: number | undefined
}

/**
 * Runs code of a plugin to its end, however long that takes: it is said once, and an interrupted job does not wait.
 *
 * @throws what the plugin throws; InterruptedError
 */
export async function waitForPlugin<T>(work: () => T | Promise<T>, wait: PluginWait): Promise<T> {
  const { scope, what, signal, patienceMs = PATIENCE_MS, graceMs = GRACE_MS } = wait
  const timers = new Set<NodeJS.Timeout>()
  const say = () => {
    const seconds = Math.round(patienceMs / 1000)
    scope.logger.warn(
      { plugin: scope.name },
      `The plugin "${scope.name}" takes long: ${what}, for ${seconds} s so far.`,
    )
  }
  timers.add(setTimeout(say, patienceMs))
  let leave = () => {}
  const left = new Promise<never>((_, reject) => {
    const over = () => reject(new InterruptedError('Interrupted.', { cause: signal?.reason }))
    leave = () => void timers.add(setTimeout(over, graceMs))
    if (signal?.aborted) leave()
    else signal?.addEventListener('abort', leave, { once: true })
  })
  try {
    return await Promise.race([inScope(scope, async () => work()), left])
  } finally {
    signal?.removeEventListener('abort', leave)
    for (const timer of timers) clearTimeout(timer)
  }
}
