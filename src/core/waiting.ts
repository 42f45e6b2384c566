/**
 * Returns the result of `work`. If `work` takes longer than `ms`, returns or throws the result of `late`; the work
 * itself continues.
 *
 * @param ms milliseconds; 0 or less means at once
 */
export async function withDeadline<T, L>(work: Promise<T>, ms: number, late: () => L): Promise<T | L> {
  let timer: NodeJS.Timeout | undefined
  const deadline = new Promise<L>((resolve, reject) => {
    timer = setTimeout(
      () => {
        try {
          resolve(late())
        } catch (error) {
          reject(error)
        }
      },
      Math.max(0, ms),
    )
  })
  try {
    return await Promise.race([work, deadline])
  } finally {
    clearTimeout(timer)
  }
}

/** Opens something for the first caller, and again only if that failed: a fault of the moment must not last. */
export function openedOnce<T>(open: () => Promise<T>) {
  let opening: Promise<T> | undefined
  return {
    opened: (): Promise<T> => {
      opening ??= open().catch((error) => {
        opening = undefined
        throw error
      })
      return opening
    },
    /** Undefined if nothing is open or about to be, and so nothing must be closed. */
    ifOpened: async (): Promise<T | undefined> => opening,
  }
}

/** Callers that come while `work` runs share its result. The next one starts it again. */
export function sharedWhileRunning<A extends readonly unknown[], T>(work: (...args: A) => Promise<T>) {
  let running: Promise<T> | undefined
  return (...args: A): Promise<T> => {
    running ??= work(...args).finally(() => {
      running = undefined
    })
    return running
  }
}

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
