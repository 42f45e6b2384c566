import type { SimProcess } from './sim-process.js'

/** Something that will happen, to a process or (null) to the world itself. */
export interface Happening {
  readonly atMs: number
  readonly order: number
  readonly process: SimProcess | null
  readonly run: () => void
  isCancelled: boolean
}

const settle: (callback: () => void) => unknown = setImmediate

/**
 * What happens next, in simulated milliseconds. One step runs one happening and all that follows from it at once, so
 * that whatever runs between two steps belongs to one process.
 */
export class Scheduler {
  /** Time for which the machine has run; a suspended machine has none. */
  uptimeMs = 0
  /** Whose code runs now. */
  current: SimProcess | null = null
  steps = 0
  #order = 0
  readonly #heap: Happening[] = []

  after(delayMs: number, process: SimProcess | null, run: () => void): Happening {
    const atMs = this.uptimeMs + Math.max(0, delayMs)
    const happening = { atMs, order: this.#order++, process, run, isCancelled: false }
    this.#push(happening)
    return happening
  }

  /** Runs the next happening up to then. @returns false where there is none */
  async step(untilMs: number): Promise<boolean> {
    for (let next = this.#heap[0]; next && next.atMs <= untilMs; next = this.#heap[0]) {
      this.#pop()
      if (next.isCancelled || next.process?.isAlive === false) continue
      this.uptimeMs = Math.max(this.uptimeMs, next.atMs)
      this.steps += 1
      await this.runAs(next.process, next.run)
      return true
    }
    this.uptimeMs = Math.max(this.uptimeMs, untilMs)
    return false
  }

  /** Runs code as a process, to where it waits for the world. */
  async runAs(process: SimProcess | null, run: () => void): Promise<void> {
    this.current = process
    run()
    await new Promise<void>((resolve) => settle(resolve))
    this.current = null
  }

  #push(happening: Happening): void {
    const heap = this.#heap
    let at = heap.push(happening) - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!isBefore(happening, heap[parent] as Happening)) break
      heap[at] = heap[parent] as Happening
      at = parent
    }
    heap[at] = happening
  }

  #pop(): void {
    const heap = this.#heap
    const last = heap.pop()
    if (last === undefined || heap.length === 0) return
    let at = 0
    for (;;) {
      const left = 2 * at + 1
      if (left >= heap.length) break
      const right = left + 1
      const least = right < heap.length && isBefore(heap[right] as Happening, heap[left] as Happening) ? right : left
      if (!isBefore(heap[least] as Happening, last)) break
      heap[at] = heap[least] as Happening
      at = least
    }
    heap[at] = last
  }
}

function isBefore(one: Happening, other: Happening): boolean {
  return one.atMs < other.atMs || (one.atMs === other.atMs && one.order < other.order)
}
