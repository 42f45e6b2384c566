import { thrownMessage } from './thrown-message.js'
/** Exit codes of the command line (a contract: see the README's table). */
export type ExitCode = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 130

/** Stable, machine-readable code of an error: `ERR_` and upper-case words. */
export type ErrorCode = `ERR_${string}`

/** An error as it stands in `--json` output, job records and failure reports. */
export interface ErrorReport {
  readonly code: ErrorCode
  /** The service's file error code (-1 … -18), null where the fault is not one of those. */
  readonly errorCode: number | null
  /** Name of {@link errorCode} in the interface, null likewise. */
  readonly name: string | null
  readonly message: string
  readonly remedies: readonly string[]
}

export interface VoxmuxErrorOptions {
  readonly cause?: unknown
  /** Path or address of the file that the error is about. */
  readonly input?: string | undefined
  /** The service's file error code and its name, where there is one. */
  readonly errorCode?: number | undefined
  readonly errorName?: string | undefined
  /** What the person can do, most useful first. */
  readonly remedies?: readonly string[] | undefined
}

/**
 * Base of every error that voxmux throws on purpose. The subclass says what kind of end it is (and so
 * the exit code), `code` says which fault exactly. Messages are one sentence in the person's terms and
 * never carry a secret or a signed link.
 */
export abstract class VoxmuxError extends Error {
  abstract readonly exitCode: ExitCode
  readonly code: ErrorCode
  readonly input: string | undefined
  readonly errorCode: number | undefined
  readonly errorName: string | undefined
  readonly remedies: readonly string[]

  constructor(code: ErrorCode, message: string, options: VoxmuxErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = new.target.name
    this.code = code
    this.input = options.input
    this.errorCode = options.errorCode
    this.errorName = options.errorName
    this.remedies = options.remedies ?? []
  }
}

/** The command line, the configuration or a path is wrong: nothing was tried. */
export class UsageError extends VoxmuxError {
  readonly exitCode = 2
}

/** The local pre-check (or a rule the person set) refuses the file: nothing was sent. */
export class PrecheckError extends VoxmuxError {
  readonly exitCode = 5
}

/** The job ended without a result, and the same attempt would end the same way. */
export class JobFailedError extends VoxmuxError {
  readonly exitCode = 1
}

/** The work goes on at the service: run again to attach. */
export class PendingError extends VoxmuxError {
  readonly exitCode = 3
}

/** Network, overload, full disk: the same attempt may succeed later. */
export class TransientError extends VoxmuxError {
  readonly exitCode = 4
}

/** Authentication or access: nothing works until a person mends it. */
export class AccessError extends VoxmuxError {
  readonly exitCode = 6
}

/** What came back or what was written does not hold what was promised; nothing was published. */
export class VerificationError extends VoxmuxError {
  readonly exitCode = 7
}

/** Stopped by a signal or an AbortSignal. */
export class InterruptedError extends VoxmuxError {
  readonly exitCode = 130

  constructor(message = 'Interrupted.', options: VoxmuxErrorOptions = {}) {
    super('ERR_INTERRUPTED', message, options)
  }
}

/** With several inputs, the first of these that occurred is the exit code of the whole. */
const PRECEDENCE: readonly ExitCode[] = [130, 2, 6, 7, 1, 5, 4, 3, 0]

/** Exit code of a run over several inputs: the gravest single one, in the order of the contract. */
export function overallExitCode(codes: Iterable<ExitCode>): ExitCode {
  const seen = new Set(codes)
  return PRECEDENCE.find((code) => seen.has(code)) ?? 0
}

/** Turns anything thrown into a {@link VoxmuxError}; a fault nobody foresaw becomes `ERR_INTERNAL`. */
export function toVoxmuxError(thrown: unknown, input?: string): VoxmuxError {
  if (thrown instanceof VoxmuxError) return thrown
  if (isAbort(thrown)) return new InterruptedError('Interrupted.', { cause: thrown, input })
  const known = fromSystemError(thrown, input)
  if (known) return known
  const message = thrownMessage(thrown)
  return new JobFailedError('ERR_INTERNAL', `Unexpected fault: ${message}`, {
    cause: thrown,
    input,
    remedies: ['This is a defect of voxmux: please report it with the output of `voxmux doctor`.'],
  })
}

/** The parts of an error that may be shown or stored. */
export function errorReport(error: VoxmuxError): ErrorReport {
  return {
    code: error.code,
    errorCode: error.errorCode ?? null,
    name: error.errorName ?? null,
    message: error.message,
    remedies: error.remedies,
  }
}

/** True for what Node throws where an operation is aborted. */
export function isAbort(thrown: unknown): boolean {
  return (
    thrown instanceof Error && (thrown.name === 'AbortError' || (thrown as { code?: unknown }).code === 'ABORT_ERR')
  )
}

/** A share or a disk that is not there for the moment: nothing is wrong with the file on it. */
export function storageAway(where: string, options: Pick<VoxmuxErrorOptions, 'cause' | 'input'> = {}): TransientError {
  return new TransientError('ERR_STORAGE_AWAY', `The disk or share of ${where} does not answer.`, {
    ...options,
    remedies: ['Bring it back, then run again.'],
  })
}

/** The faults of the file system that a person can mend, in their words. */
function fromSystemError(thrown: unknown, input?: string): VoxmuxError | undefined {
  if (!(thrown instanceof Error)) return undefined
  const { code, path } = thrown as NodeJS.ErrnoException
  const where = path ?? input ?? 'the file'
  switch (code) {
    case 'ENOSPC':
    case 'EDQUOT':
      return new TransientError('ERR_DISK_FULL', `No space left while writing ${where}.`, {
        cause: thrown,
        input,
        remedies: ['Free some space on that disk, then run again: what was paid for is kept.'],
      })
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new UsageError('ERR_NOT_PERMITTED', `No permission for ${where}.`, {
        cause: thrown,
        input,
        remedies: ['Check the owner and the permissions of the file and of its folder.'],
      })
    case 'EIO':
    case 'ESTALE':
    case 'ENODEV':
    case 'ENXIO':
    case 'ENOTCONN':
    case 'EHOSTDOWN':
    case 'EHOSTUNREACH':
    case 'EREMOTEIO':
      return storageAway(where, { cause: thrown, input })
    case 'EMFILE':
    case 'ENFILE':
      return new TransientError('ERR_TOO_MANY_FILES', 'Too many files are open.', {
        cause: thrown,
        input,
        remedies: ['Raise the limit (ulimit -n) or lower --concurrency.'],
      })
    default:
      return undefined
  }
}
