import type { Hash } from 'node:crypto'
import type { RegisteredFile } from '../../contract/index.js'
import { HttpFault, httpFaultOf } from '../http-fault.js'
import type { TextAnswer } from '../transport.js'
import { requireStored, spoiledBytes } from './require-stored.js'

/** Conflict, and a precondition that failed. */
const WRITTEN_ALREADY: ReadonlySet<number> = new Set([409, 412])

/** The tries of one upload, and what is known of the storage after them. */
export class UploadTries {
  readonly #registered: RegisteredFile
  readonly #input: string
  #mayBeStored = false
  #spoiled: HttpFault | undefined

  /** @param input names the file in an error */
  constructor(registered: RegisteredFile, input: string) {
    this.#registered = registered
    this.#input = input
  }

  /**
   * Checks the response of the storage to a try.
   *
   * @param md5 returns that of the sent bytes, unfinished; undefined if there is none
   * @throws as `requireStored`; {HttpFault} if the storage has other bytes
   */
  async requireStored(answer: TextAnswer, md5: () => Promise<Hash | undefined>): Promise<void> {
    if (WRITTEN_ALREADY.has(answer.status)) {
      if (this.#spoiled) throw this.#spoiled
      // A storage that writes a file only once has it from a try whose response was lost.
      if (this.#mayBeStored) return
    }
    requireStored(answer, this.#registered, this.#input)
    this.#spoiled = await spoiledBytes(answer, md5)
    if (this.#spoiled) throw this.#spoiled
  }

  /** Notes the fault of a try. */
  failed(thrown: unknown): void {
    if (thrown instanceof HttpFault && thrown.ambiguous) this.#mayBeStored = true
  }
}

/** True for the error of a storage that refuses an upload because it has the file and accepts no other bytes. */
export function isWrittenAlready(error: unknown): boolean {
  const fault = httpFaultOf(error)
  return fault?.operation === 'upload' && WRITTEN_ALREADY.has(fault.status ?? 0)
}
