import { chmod, constants, copyFile, type FileHandle, open } from 'node:fs/promises'
import { throwIfAborted } from '../../core/abort.js'
import { JobFailedError } from '../../core/errors.js'
import { type BytePiece, type BytePlan, pieceLength, planSize } from './byte-plan.js'

export interface CopyPlanOptions {
  readonly input: string
  /** Side files, by the `donor` of a piece. */
  readonly donors: readonly string[]
  readonly signal?: AbortSignal | undefined
  /** Bytes written so far, out of {@link planSize}. */
  readonly onProgress?: ((writtenBytes: number) => void) | undefined
}

/** Size of one read or write. A copy needs memory for two. */
const BLOCK_BYTES = 4 * 1024 ** 2

/**
 * Writes the output of a plan to `target`, which must not exist. A file system with reflinks shares the blocks that
 * stay in place. The caller syncs the file, and removes it after an error.
 *
 * @throws {InterruptedError} after `signal`
 * @throws {JobFailedError} ERR_INPUT_CHANGED if a source is shorter than planned
 */
export async function copyPlan(plan: BytePlan, target: string, options: CopyPlanOptions): Promise<void> {
  throwIfAborted(options.signal)
  const sharesInput = staysInPlace(plan) && (await reflink(options.input, target))
  const files: FileHandle[] = []
  const opened = async (path: string, flags: string) => {
    const file = await open(path, flags)
    files.push(file)
    return file
  }
  try {
    const output = await opened(target, sharesInput ? 'r+' : 'wx')
    const input = await opened(options.input, 'r')
    const donors: FileHandle[] = []
    for (const donor of options.donors) donors.push(await opened(donor, 'r'))
    const copy = new Copy(output, options)
    let at = 0
    for (const piece of plan.pieces) {
      if (!(sharesInput && isInPlace(piece, at))) await copy.write(piece, sourceOf(piece, input, donors), at)
      at += pieceLength(piece)
    }
    if (sharesInput) await output.truncate(planSize(plan))
  } finally {
    await Promise.all(files.map((file) => file.close()))
  }
}

/** Copies pieces through two blocks: it writes one while it reads the other. */
class Copy {
  readonly #output: FileHandle
  readonly #options: CopyPlanOptions
  readonly #blocks = [Buffer.allocUnsafeSlow(BLOCK_BYTES), Buffer.allocUnsafeSlow(BLOCK_BYTES)]
  #written = 0

  constructor(output: FileHandle, options: CopyPlanOptions) {
    this.#output = output
    this.#options = options
  }

  async write(piece: BytePiece, source: FileHandle | undefined, at: number): Promise<void> {
    if (piece.kind === 'bytes' || !source) {
      await this.#put(piece.kind === 'bytes' ? piece.bytes : new Uint8Array(), at)
      return
    }
    let writing: Promise<void> = Promise.resolve()
    try {
      for (let done = 0, turn = 0; done < piece.length; turn++) {
        throwIfAborted(this.#options.signal)
        const block = this.#blocks[turn % 2] as Buffer
        const length = Math.min(BLOCK_BYTES, piece.length - done)
        await readFully(source, block.subarray(0, length), piece.start + done, this.#options.input)
        await writing
        writing = this.#put(block.subarray(0, length), at + done)
        // Awaited in the next turn. The catch avoids an unhandled rejection until then.
        writing.catch(() => {})
        done += length
      }
    } finally {
      await writing
    }
  }

  async #put(bytes: Uint8Array, at: number): Promise<void> {
    for (let done = 0; done < bytes.length; ) {
      const { bytesWritten } = await this.#output.write(bytes, done, bytes.length - done, at + done)
      done += bytesWritten
    }
    this.#written += bytes.length
    this.#options.onProgress?.(this.#written)
  }
}

async function readFully(source: FileHandle, into: Buffer, at: number, input: string): Promise<void> {
  for (let done = 0; done < into.length; ) {
    const { bytesRead } = await source.read(into, done, into.length - done, at + done)
    if (bytesRead === 0) {
      throw new JobFailedError('ERR_INPUT_CHANGED', `${input} became shorter while it was copied.`, {
        input,
        remedies: ['Wait until no program writes to the file, then run again. Everything that was paid is kept.'],
      })
    }
    done += bytesRead
  }
}

function sourceOf(piece: BytePiece, input: FileHandle, donors: readonly FileHandle[]): FileHandle | undefined {
  switch (piece.kind) {
    case 'input':
      return input
    case 'donor':
      return donors[piece.donor]
    case 'bytes':
      return undefined
    default:
      return piece satisfies never
  }
}

function isInPlace(piece: BytePiece, at: number): boolean {
  return piece.kind === 'input' && piece.start === at
}

/** True if more than half of the output has the same place in the input. */
function staysInPlace(plan: BytePlan): boolean {
  let at = 0
  let inPlace = 0
  for (const piece of plan.pieces) {
    if (isInPlace(piece, at)) inPlace += pieceLength(piece)
    at += pieceLength(piece)
  }
  return 2 * inPlace > at
}

/** Makes `target` share the input's blocks; false if it cannot. Never falls back to a plain copy, which cannot be aborted. */
async function reflink(input: string, target: string): Promise<boolean> {
  try {
    await copyFile(input, target, constants.COPYFILE_FICLONE_FORCE | constants.COPYFILE_EXCL)
    // The copy has the mode of the input, which may be read-only.
    await chmod(target, 0o666 & ~process.umask())
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw error
    return false
  }
}
