import type { OperationName } from '../../../src/contract/index.js'

/** Everything that can be made to fail, and is counted. */
export type FaultOperation = OperationName | 'token' | 'upload' | 'download'

export const FAULT_OPERATIONS: readonly FaultOperation[] = [
  'ping',
  'registerFile',
  'registerFileFromUrl',
  'startProcess',
  'getFilesStatus',
  'getOutputFileUrl',
  'token',
  'upload',
  'download',
]

/** One thing that goes wrong with one request. */
export type Fault =
  /** Answered with this status and the interface's body for it; nothing is done, unless `done` says so. */
  | { kind: 'status'; status: number; retryAfter?: string; message?: string; done?: true }
  /** Nothing is done; the connection is reset (an upload: after half of its bytes). */
  | { kind: 'reset' }
  /** Nothing is done; the connection is said to speak another protocol now, and closed. */
  | { kind: 'switch' }
  /** What was asked is done, and the connection reset instead of an answer. */
  | { kind: 'reset-after' }
  /** Done; the answer breaks off after `bytes` of its body (default: half). */
  | { kind: 'truncated'; bytes?: number }
  /** Done; the answer is not JSON. */
  | { kind: 'garbage' }
  /** Done; the answer is JSON of another shape. */
  | { kind: 'wrong-shape' }
  /** Never answered, nothing is read, and the silence is broken all the time: 102 Processing. */
  | { kind: 'stall' }
  /** Answered properly after a while. */
  | { kind: 'slow'; delayMs: number }
  /** Never answered. */
  | { kind: 'hang' }
  /** Done; the body of the answer has no end (a file: comes byte by byte), and never falls silent for long. */
  | { kind: 'drip' }
  /** registerFile, getOutputFileUrl: the link given is refused (403), or with `past` says itself that it is over. */
  | { kind: 'expired-link'; past?: boolean }
  /** Nothing is done; answered with exactly this. A string is sent as it is. */
  | { kind: 'answer'; status?: number; headers?: Record<string, string>; body: unknown }
  /** Nothing is done; answered with a file's bytes (`endByte`: broken off there). */
  | { kind: 'file'; path: string; headers?: Record<string, string>; endByte?: number }
  /** startProcess: 200 with this `error`; nothing is done, unless `done` says so. */
  | { kind: 'start-error'; code: number; message?: string; done?: true }
  /** download: sent on to the same file by another address. */
  | { kind: 'redirect'; location?: string }

/** Faults in wait, a queue for each operation. */
export class FaultQueue {
  readonly #queues = new Map<FaultOperation, { fault: Fault; left: number }[]>()

  /** The next `times` requests of an operation get this fault, after those queued before. */
  add(operation: FaultOperation, fault: Fault, times: number): void {
    const queue = this.#queues.get(operation) ?? []
    queue.push({ fault, left: times })
    this.#queues.set(operation, queue)
  }

  take(operation: FaultOperation): Fault | undefined {
    const queue = this.#queues.get(operation)
    const first = queue?.[0]
    if (!queue || !first) return undefined
    first.left--
    if (first.left <= 0) queue.shift()
    return first.fault
  }

  clear(operation?: FaultOperation): void {
    if (operation) this.#queues.delete(operation)
    else this.#queues.clear()
  }
}
