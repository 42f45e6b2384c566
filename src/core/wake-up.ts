/** A wait that can be cut short. A call of `now` without a waiter cuts the next wait short. */
export class WakeUp {
  #called = false
  #wake: (() => void) | undefined

  now(): void {
    this.#called = true
    this.#wake?.()
  }

  /** Resolves after `ms` or at {@link now}, whichever is first. */
  async wait(ms: number): Promise<void> {
    if (!this.#called)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms)
        this.#wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    this.#wake = undefined
    this.#called = false
  }
}
