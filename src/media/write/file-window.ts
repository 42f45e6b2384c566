import type { FileHandle } from 'node:fs/promises'

/** Enough for the heads of many small packets, and little beside a picture. */
const WINDOW_BYTES = 64 * 1024
/** Bytes that {@link FileWindow.bring} makes available: a head, and the first bytes of a packet or a number behind it. */
const SCANNED_BYTES = 32

/** Reads heads, which lie anywhere between bodies that are not read. */
export class FileWindow {
  readonly #file: FileHandle
  /** Bytes of the file; zeros behind its end. */
  readonly window: Buffer
  readonly sizeBytes: number
  #start = 0
  #length = 0

  /** @param sizeBytes of the file, or of its part that matters */
  constructor(file: FileHandle, sizeBytes: number, windowBytes = WINDOW_BYTES) {
    this.#file = file
    this.window = Buffer.alloc(windowBytes)
    this.sizeBytes = sizeBytes
  }

  /** Makes {@link SCANNED_BYTES} from an offset on available; undefined if they are. */
  bring(at: number): Promise<void> | undefined {
    const end = Math.min(at + SCANNED_BYTES, this.sizeBytes)
    return at >= this.#start && end <= this.#start + this.#length ? undefined : this.#load(at)
  }

  /** Place in the window of an offset that was brought. */
  placeOf(at: number): number {
    return at - this.#start
  }

  /** Bytes at an offset that was brought; fewer at the end of the file. */
  peek(at: number, length: number): Buffer {
    const from = this.placeOf(at)
    return this.window.subarray(from, Math.min(from + length, this.#length))
  }

  async #load(at: number): Promise<void> {
    const { bytesRead } = await this.#file.read(this.window, 0, this.window.length, at)
    this.#start = at
    this.#length = bytesRead
    this.window.fill(0, bytesRead)
  }
}
