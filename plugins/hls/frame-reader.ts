import { type FileHandle, open } from 'node:fs/promises'
import { JobFailedError } from '../../src/core/errors.js'
import { wholeFrameLength } from './audio-frames.js'

const CHUNK_BYTES = 1 << 18

/** Reads a file of ADTS frames from front to back, a few at a time: memory does not grow with the file. */
export class FrameReader implements AsyncDisposable {
  readonly #file: FileHandle
  #left = Buffer.alloc(0)

  private constructor(file: FileHandle) {
    this.#file = file
  }

  static async open(path: string): Promise<FrameReader> {
    return new FrameReader(await open(path, 'r'))
  }

  /** The next frames. Throws JobFailedError ERR_HLS_FRAMES if fewer are left. */
  async take(count: number): Promise<readonly Buffer[]> {
    const frames: Buffer[] = []
    while (frames.length < count) {
      const frame = await this.#next()
      if (frame === null) {
        throw new JobFailedError('ERR_HLS_FRAMES', 'The encoder wrote fewer frames than the rendition had.')
      }
      frames.push(frame)
    }
    return frames
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#file.close()
  }

  async #next(): Promise<Buffer | null> {
    for (;;) {
      const length = wholeFrameLength(this.#left, 0)
      if (length !== null) {
        const frame = this.#left.subarray(0, length)
        this.#left = this.#left.subarray(length)
        return frame
      }
      const { buffer, bytesRead } = await this.#file.read(Buffer.alloc(CHUNK_BYTES))
      if (bytesRead === 0) return null
      this.#left = Buffer.concat([this.#left, buffer.subarray(0, bytesRead)])
    }
  }
}
