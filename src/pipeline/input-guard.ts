import { stat } from 'node:fs/promises'
import { JobFailedError, VoxmuxError } from '../core/errors.js'
import { fileSha256, isSameState, type QuickIdentity, quickIdentity } from '../core/file-identity.js'
import { missingInput, vanishedInput } from './output/storage-faults.js'

/** Faults of an input that was moved, removed or replaced. */
export const INPUT_GONE_CODES: ReadonlySet<string> = new Set([
  'ERR_INPUT_MISSING',
  'ERR_INPUT_MOVED',
  'ERR_INPUT_CHANGED',
])

/** Guards an input that must not change after its voice was cut. */
interface InputGuard {
  /**
   * @param sha256 of the input at the time of the cut, needed only if it was touched; null if it is not known
   * @throws {JobFailedError} `ERR_INPUT_CHANGED` if another file has its name, or it was written to
   * @throws {UsageError} `ERR_INPUT_MISSING`
   */
  requireSame(sha256: string | Promise<string> | null, signal?: AbortSignal): Promise<void>
  /** Throws the real fault behind a fault: readers of a replaced or removed input fail in their own words. */
  blame(error: unknown): Promise<never>
}

/** Exit codes of faults that a missing or changed input can cause. */
const LED_TO: ReadonlySet<number> = new Set([1, 2, 5, 7])

/**
 * Records the identity of an input before it is cut. The mux opens the file by name again, and without a comparison the
 * old voice would be muxed with a new picture. A file that was only touched (other times or another inode, the same
 * length) is read again and compared.
 *
 * @param planned state of the input when it was planned
 * @throws {JobFailedError} `ERR_INPUT_CHANGED` if it is in another state already
 */
export async function guardInput(path: string, planned: QuickIdentity): Promise<InputGuard> {
  const first = await identityOf(path, missingInput)
  if (!isSameState(planned, await quickIdentity(path))) throw inputChanged(path)
  const requireSame: InputGuard['requireSame'] = async (sha256, signal) => {
    const now = await identityOf(path, vanishedInput)
    if (now.file === first.file) return
    const mayBeSame = now.sizeBytes === first.sizeBytes && sha256 !== null
    if (mayBeSame && (await fileSha256(path, signal)) === (await sha256)) return
    throw inputChanged(path)
  }
  return {
    requireSame,
    async blame(error) {
      const mayFollow = !(error instanceof VoxmuxError) || LED_TO.has(error.exitCode)
      if (mayFollow) await requireSame(null)
      throw error
    },
  }
}

/** The error for an input that is written to or replaced during its job. */
export function inputChanged(path: string): JobFailedError {
  return new JobFailedError(
    'ERR_INPUT_CHANGED',
    `${path} changed while voxmux processed it, so nothing was published.`,
    {
      input: path,
      remedies: ['Wait until no program writes to the file, then run again.'],
    },
  )
}

async function identityOf(
  path: string,
  whenMissing: typeof missingInput,
): Promise<{ readonly file: string; readonly sizeBytes: bigint }> {
  const { size, mtimeNs, dev, ino, ctimeNs } = await stat(path, { bigint: true }).catch(
    async (cause: NodeJS.ErrnoException) => {
      throw cause.code === 'ENOENT' ? await whenMissing(path, cause) : cause
    },
  )
  return { sizeBytes: size, file: [size, mtimeNs, dev, ino, ctimeNs].join() }
}
