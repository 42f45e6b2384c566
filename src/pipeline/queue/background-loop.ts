/** Work that runs beside the jobs until it is stopped, and can be started again. */
export class BackgroundLoop {
  readonly #run: (signal: AbortSignal) => Promise<void>
  #stop = new AbortController()
  #running: Promise<void> | undefined

  /** @param run ends soon after the abort of its signal, and does not throw */
  constructor(run: (signal: AbortSignal) => Promise<void>) {
    this.#run = run
  }

  /** Does nothing if it runs. */
  start(): void {
    if (this.#running) return
    this.#stop = new AbortController()
    this.#running = this.#run(this.#stop.signal)
  }

  /** Aborts at once, and resolves when the loop has ended. */
  async stop(): Promise<void> {
    this.#stop.abort()
    await this.#running
    this.#running = undefined
  }
}
