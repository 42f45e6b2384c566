import { chmod, constants, copyFile, type FileHandle, open } from 'node:fs/promises'
import { throwIfAborted } from '../../core/abort.js'
import { withPath } from '../../core/errors.js'
import { type BytePiece, type BytePlan, lengthOf, pieceLength } from './byte-plan.js'
import { OutputBlocks, type OutputBlocksOptions } from './copy/output-blocks.js'
import { SourceWindow } from './copy/source-window.js'

interface CopyPlanOptions extends OutputBlocksOptions {
  readonly input: string
  /** Side files, by the `donor` of a piece. */
  readonly donors: readonly string[]
}

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
  let output: OutputBlocks | undefined
  try {
    const file = await opened(target, sharesInput ? 'r+' : 'wx')
    const source = async (path: string) => {
      const handle = await opened(path, 'r')
      return new SourceWindow(handle, path, (await handle.stat()).size)
    }
    const input = await source(options.input)
    const donors: SourceWindow[] = []
    for (const donor of options.donors) donors.push(await source(donor))
    output = new OutputBlocks(file, options)
    for (const piece of plan.pieces) {
      const isShared = sharesInput && piece.kind === 'input' && piece.start === output.at
      // Waits only if it has to: a film has a million pieces.
      const pending = write(piece, output, { input, donors, isShared })
      if (pending) await pending
    }
    await output.flush()
    if (sharesInput) await file.truncate(lengthOf(plan.pieces))
  } catch (error) {
    throw withPath(error, target)
  } finally {
    await output?.settle()
    await Promise.all(files.map((file) => file.close()))
  }
}

interface Sources {
  readonly input: SourceWindow
  readonly donors: readonly SourceWindow[]
  /** True if the output has the bytes of the piece already. */
  readonly isShared: boolean
}

function write(
  piece: BytePiece,
  output: OutputBlocks,
  { input, donors, isShared }: Sources,
): Promise<void> | undefined {
  switch (piece.kind) {
    case 'bytes':
      return output.put(piece.bytes)
    case 'checksum':
      return output.putChecksum(piece.of, piece.covers)
    case 'input':
      return isShared ? output.skip(input, piece.start, piece.length) : output.copy(input, piece.start, piece.length)
    case 'donor':
      return output.copy(donors[piece.donor] as SourceWindow, piece.start, piece.length)
    default:
      return piece satisfies never
  }
}

/** True if more than half of the output has the same place in the input. */
function staysInPlace(plan: BytePlan): boolean {
  let at = 0
  let inPlace = 0
  for (const piece of plan.pieces) {
    if (piece.kind === 'input' && piece.start === at) inPlace += piece.length
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
