/** A wait that can be cut short; a call while nobody waits cuts the next one short. */
export class Nap {
  #isCalled = false
  #end: (() => void) | undefined

  /** Ends after so long, at `wake`, or at once where it was woken before. */
  async take(ms: number): Promise<void> {
    if (!this.#isCalled)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms)
        this.#end = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    this.#end = undefined
    this.#isCalled = false
  }

  wake(): void {
    this.#isCalled = true
    this.#end?.()
  }
}
