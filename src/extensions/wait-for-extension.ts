import { InterruptedError } from '../core/errors.js'
import { type ExtensionScope, inScope } from './extension-scope.js'

const PATIENCE_MS = 60_000
/** Time that it may still take after the job was interrupted: less than an orderly end of the process takes at most. */
const GRACE_MS = 3000

/** How long to wait. */
export interface WaitOptions {
  /** Ends the wait for an extension that is starting. */
  readonly signal?: AbortSignal | undefined
  /** Time after which a warning about a slow extension is logged. */
  readonly patienceMs?: number | undefined
  /** Time that a hook may still take after its job was interrupted. */
  readonly graceMs?: number | undefined
}

interface ExtensionWait extends WaitOptions {
  readonly scope: ExtensionScope
  /** The awaited call, for messages. */
  readonly what: string
}

/**
 * Awaits code of an extension, however long it takes. Logs one warning if it is slow. An interrupted job does not wait.
 *
 * @throws every error of the extension; InterruptedError
 */
export async function waitForExtension<T>(work: () => T | Promise<T>, wait: ExtensionWait): Promise<T> {
  const { scope, what, signal, patienceMs = PATIENCE_MS, graceMs = GRACE_MS } = wait
  const timers = new Set<NodeJS.Timeout>()
  const say = () => {
    const seconds = Math.round(patienceMs / 1000)
    scope.logger.warn(
      { extension: scope.name },
      `The extension "${scope.name}" is slow: ${what}, for ${seconds} s so far.`,
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
