import type { FileHandle } from 'node:fs/promises'
import { throwIfAborted } from '../../../core/abort.js'
import { uint32LE } from '../../number-bytes.js'
import type { RunningChecksum } from '../byte-plan.js'
import type { SourceWindow } from './source-window.js'

const BLOCK_BYTES = 512 * 1024

/** Size of one write. For larger ones, Linux looks for large pages, which can take longer than the copy itself. */
const WRITE_BYTES = 128 * 1024

export interface OutputBlocksOptions {
  readonly signal?: AbortSignal | undefined
  /** Bytes written so far, out of those of the plan. */
  readonly onProgress?: ((writtenBytes: number) => void) | undefined
}

/** A checksum over bytes that are still to come. */
interface Checksum {
  readonly of: RunningChecksum
  readonly at: number
  left: number
  value: number
}

/** Collects an output in two blocks, one filled while the other is written. Undefined: no wait was needed. */
export class OutputBlocks {
  readonly #file: FileHandle
  readonly #options: OutputBlocksOptions
  #block = Buffer.allocUnsafeSlow(BLOCK_BYTES)
  #other = Buffer.allocUnsafeSlow(BLOCK_BYTES)
  /** Offset of the block in the output, and bytes in it. */
  #start = 0
  #filled = 0
  #writing: Promise<void> = Promise.resolve()
  #written = 0
  #checksum: Checksum | null = null

  constructor(file: FileHandle, options: OutputBlocksOptions) {
    this.#file = file
    this.#options = options
  }

  /** Offset of the next byte. */
  get at(): number {
    return this.#start + this.#filled
  }

  put(bytes: Uint8Array): Promise<void> | undefined {
    if (bytes.length > BLOCK_BYTES - this.#filled) return this.#putLong(bytes)
    this.#block.set(bytes, this.#filled)
    return this.#add(bytes.length)
  }

  copy(source: SourceWindow, from: number, length: number): Promise<void> | undefined {
    if (length > BLOCK_BYTES - this.#filled) return this.#copyLong(source, from, length)
    const reading = source.read(this.#block.subarray(this.#filled, this.#filled + length), from)
    return reading ? reading.then(() => this.#add(length)) : this.#add(length)
  }

  /** Leaves bytes as they are in the output. They are read only if the checksum covers them. */
  async skip(source: SourceWindow, from: number, length: number): Promise<void> {
    await this.flush()
    let done = 0
    while (done < length && this.#checksum) {
      throwIfAborted(this.#options.signal)
      const part = this.#block.subarray(0, Math.min(BLOCK_BYTES, length - done))
      await source.read(part, from + done)
      done += part.length
      this.#start += part.length
      await this.#sum(part)
    }
    this.#start += length - done
  }

  /** Leaves room for the checksum of the next `covers` bytes, and fills it in after them. */
  async putChecksum(of: RunningChecksum, covers: number): Promise<void> {
    const at = this.at
    await this.put(new Uint8Array(4))
    this.#checksum = { of, at, left: covers, value: of.start }
    await this.#sum(new Uint8Array())
  }

  async flush(): Promise<void> {
    await this.#turn()
    await this.#writing
  }

  /** Waits until nothing is written any more, also after an error. */
  async settle(): Promise<void> {
    await this.#writing.catch(() => {})
  }

  async #putLong(bytes: Uint8Array): Promise<void> {
    for (let done = 0; done < bytes.length; ) {
      const part = bytes.subarray(done, done + BLOCK_BYTES - this.#filled)
      done += part.length
      await this.put(part)
    }
  }

  async #copyLong(source: SourceWindow, from: number, length: number): Promise<void> {
    for (let done = 0; done < length; ) {
      const part = Math.min(length - done, BLOCK_BYTES - this.#filled)
      await this.copy(source, from + done, part)
      done += part
    }
  }

  #add(length: number): Promise<void> | undefined {
    const bytes = this.#block.subarray(this.#filled, this.#filled + length)
    this.#filled += length
    const summing = this.#sum(bytes)
    if (this.#filled < BLOCK_BYTES) return summing
    return summing ? summing.then(() => this.#turn()) : this.#turn()
  }

  /** Begins to write the full block, after the one before it. */
  async #turn(): Promise<void> {
    throwIfAborted(this.#options.signal)
    await this.#writing
    const [bytes, at] = [this.#block.subarray(0, this.#filled), this.#start]
    this.#start += this.#filled
    this.#filled = 0
    ;[this.#block, this.#other] = [this.#other, this.#block]
    this.#writing = this.#write(bytes, at)
    // Awaited in the next turn. The catch avoids an unhandled rejection until then.
    this.#writing.catch(() => {})
  }

  async #write(bytes: Uint8Array, at: number): Promise<void> {
    for (let done = 0; done < bytes.length; ) {
      const part = bytes.subarray(done, done + WRITE_BYTES)
      const { bytesWritten } = await this.#file.write(part, 0, part.length, at + done)
      done += bytesWritten
    }
    this.#written += bytes.length
    if (bytes.length > 0) this.#options.onProgress?.(this.#written)
  }

  /** Adds bytes to the checksum, and fills it in if they are the last. */
  #sum(bytes: Uint8Array): Promise<void> | undefined {
    const checksum = this.#checksum
    if (!checksum) return undefined
    const own = bytes.subarray(0, checksum.left)
    checksum.value = checksum.of.add(own, checksum.value)
    checksum.left -= own.length
    if (checksum.left > 0) return undefined
    this.#checksum = null
    return this.#fillIn(checksum)
  }

  async #fillIn({ at, value }: Checksum): Promise<void> {
    const bytes = uint32LE(value)
    if (at >= this.#start) {
      this.#block.set(bytes, at - this.#start)
      return
    }
    // The block with the room for it is being written, or ends inside it.
    await this.flush()
    await this.#write(bytes, at)
  }
}
