/** Takes the place of `node:timers/promises` in the n8n node. */
import { sleep } from 'n8n-workflow'

/** Sleeps. An abort rejects at once; the sleep that nobody waits for then ends in silence. */
export async function setTimeout(delayMs: number, _value: undefined, { signal }: { signal?: AbortSignal } = {}) {
  if (!signal) return sleep(delayMs)
  let stop = () => {}
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason)
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
  })
  try {
    await Promise.race([sleep(delayMs), aborted])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
