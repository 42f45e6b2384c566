/**
 * Work that runs beside the jobs until it is stopped, and can be started again.
 *
 * @param run ends soon after the abort of its signal, and does not throw
 */
export function backgroundLoop(run: (signal: AbortSignal) => Promise<void>) {
  let ending = new AbortController()
  let running: Promise<void> | undefined
  return {
    /** Does nothing if it runs. */
    start() {
      if (running) return
      ending = new AbortController()
      running = run(ending.signal)
    },
    /** Aborts at once, and resolves when the loop has ended. */
    async stop() {
      ending.abort()
      await running
      running = undefined
    },
  }
}
