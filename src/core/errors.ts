import { inspect } from 'node:util'

/** Exit codes of the command line. They are a contract: see the README's table. */
export type ExitCode = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 130

/** Stable, machine-readable code of an error: `ERR_` and upper-case words. */
export type ErrorCode = `ERR_${string}`

/** An error in `--json` output, job records and failure reports. */
export interface ErrorReport {
  readonly code: ErrorCode
  /** The service's file error code (-1 … -18), or null for any other fault. */
  readonly errorCode: number | null
  /** Name of {@link errorCode} in the interface, or null. */
  readonly name: string | null
  readonly message: string
  readonly remedies: readonly string[]
}

export interface VoxmuxErrorOptions {
  readonly cause?: unknown
  /** Path or address of the file that the error is about. */
  readonly input?: string | undefined
  /** The service's file error code and its name, if any. */
  readonly errorCode?: number | undefined
  readonly errorName?: string | undefined
  /** Next steps of the user, most useful first. */
  readonly remedies?: readonly string[] | undefined
}

const OTHER_FFMPEG = 'Install another build of ffmpeg. `voxmux doctor` shows which one is used.'

/** The next steps of faults that are thrown deep below the place that knows the command. */
const USUAL_REMEDIES: Readonly<Partial<Record<ErrorCode, readonly string[]>>> = {
  ERR_CUT_LENGTH: ['Play the file to its end in a media player. If it plays well, report it with this message.'],
  ERR_ENCODER_OUTPUT: [OTHER_FFMPEG],
  ERR_FFMPEG_FAILED: [
    'Play the file to its end in a media player, and copy or export it again if it fails.',
    OTHER_FFMPEG,
  ],
  ERR_FFPROBE_ANSWER: [OTHER_FFMPEG],
  ERR_HLS_FRAMES: ['This is a defect of voxmux: please report it with the package.'],
  ERR_HLS_PLAYLIST: ['Package the film again as plain HLS for video on demand.'],
  ERR_HLS_SEGMENT: ['Copy the complete package again.'],
  ERR_INPUT_UNREADABLE: ['Check the disk or share of the file, then run again.'],
  ERR_OFFSETS: ['Choose another container with --output, such as .mkv.'],
  ERR_ONNX_MODEL: ['Correct the model or its description: see docs/onnx-engine.md.'],
}

/**
 * Base of every error that voxmux throws on purpose. The subclass is the kind of failure and sets the exit code; `code`
 * is the exact fault. A message is one sentence for users and never contains a secret or a signed link.
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
    this.remedies = options.remedies ?? USUAL_REMEDIES[code] ?? []
  }
}

/** The command line, the configuration or a path is wrong. Nothing was tried. */
export class UsageError extends VoxmuxError {
  readonly exitCode = 2
}

/** The local pre-check, or a rule of the user, refuses the file. Nothing was sent. */
export class PrecheckError extends VoxmuxError {
  readonly exitCode = 5
}

/** The job ended without a result, and a retry would end the same way. */
export class JobFailedError extends VoxmuxError {
  readonly exitCode = 1
}

/** The service is still processing. Run the command again to attach. */
export class PendingError extends VoxmuxError {
  readonly exitCode = 3
}

/** A network fault, overload or a full disk: a retry may succeed later. */
export class TransientError extends VoxmuxError {
  readonly exitCode = 4
}

/** Authentication or access failed. Nothing works until the user fixes it. */
export class AccessError extends VoxmuxError {
  readonly exitCode = 6
}

/** The regenerated audio or the output failed its verification. Nothing was published. */
export class VerificationError extends VoxmuxError {
  readonly exitCode = 7
}

/** Stopped by a signal or an AbortSignal. */
export class InterruptedError extends VoxmuxError {
  readonly exitCode = 130

  constructor(message = 'Interrupted.', options: VoxmuxErrorOptions = {}) {
    super('ERR_INTERRUPTED', message, {
      remedies: ['Run the same command again to continue. You do not pay again for anything already paid.'],
      ...options,
    })
  }
}

/** With several inputs, the first code of this list that occurred is the exit code. */
const PRECEDENCE: readonly ExitCode[] = [130, 2, 6, 7, 1, 5, 4, 3, 0]

/** Exit code of a run over several inputs: the most serious one, in the order of the contract. */
export function overallExitCode(codes: Iterable<ExitCode>): ExitCode {
  const seen = new Set(codes)
  return PRECEDENCE.find((code) => seen.has(code)) ?? 0
}

/** Converts anything thrown to a {@link VoxmuxError}. An unforeseen fault becomes `ERR_INTERNAL`. */
export function toVoxmuxError(thrown: unknown, input?: string): VoxmuxError {
  if (isSuppressing(thrown)) return toVoxmuxError(thrown.suppressed, input)
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

/** The same error in other words, such as the user's own name for a file. */
export function reworded(error: VoxmuxError, reword: (text: string) => string): VoxmuxError {
  if (error instanceof InterruptedError) return error
  const Kind = error.constructor as new (code: ErrorCode, message: string, options: VoxmuxErrorOptions) => VoxmuxError
  return new Kind(error.code, reword(error.message), {
    ...error,
    cause: error.cause,
    ...(error.input !== undefined && { input: reword(error.input) }),
    remedies: error.remedies.map(reword),
  })
}

/** True if closing failed too after a fault, as on a share that is gone. Node 20 has no class for it. */
function isSuppressing(thrown: unknown): thrown is Error & { readonly suppressed: unknown } {
  return thrown instanceof Error && thrown.name === 'SuppressedError' && 'suppressed' in thrown
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

/** True for the error that Node throws when an operation is aborted. */
export function isAbort(thrown: unknown): boolean {
  return (
    thrown instanceof Error && (thrown.name === 'AbortError' || (thrown as { code?: unknown }).code === 'ABORT_ERR')
  )
}

/** Creates the error for a share or a disk that is unreachable at the moment. The file on it is not at fault. */
export function storageAway(where: string, options: Pick<VoxmuxErrorOptions, 'cause' | 'input'>): TransientError {
  return new TransientError('ERR_STORAGE_AWAY', `The disk or share of ${where} does not respond.`, {
    ...options,
    remedies: ['Reconnect it, then run the same command again.'],
  })
}

/** Creates the error of a disk that takes no file as large as an output. @param where begins a sentence */
export function outputTooLarge(where: string, options: Pick<VoxmuxErrorOptions, 'cause' | 'input'>): UsageError {
  return new UsageError('ERR_OUTPUT_TOO_LARGE', `${where} is larger than its disk allows.`, {
    ...options,
    remedies: ['Choose another disk with --output: FAT takes at most 4 GB per file. You do not pay twice.'],
  })
}

/** The second remedy of a full disk. A new state folder would forget what is paid for, so the old one is moved. */
export const OTHER_DISK =
  'Or use another disk: for outputs with --output, for temporary files with TMPDIR. Move a state folder, and name its new place in VOXMUX_STATE_DIR.'

/** Numbers for which Node.js has no name: those of Linux and of macOS. */
const UNNAMED: Readonly<Record<number, string>> = { 116: 'ESTALE', 122: 'EDQUOT', 69: 'EDQUOT', 70: 'ESTALE' }

/**
 * The code of a system's error. Node.js calls a full quota `Unknown system error -122`, and a share whose server has
 * started again `Unknown system error -116`.
 */
export function systemCode(thrown: unknown): string | undefined {
  const { code, errno } = thrown as NodeJS.ErrnoException
  const isUnnamed = typeof code === 'string' && code.startsWith('Unknown system error')
  return (isUnnamed && UNNAMED[Math.abs(errno ?? 0)]) || code
}

/** Names the file of a system's error. Node.js does not when an open file cannot be read or written. */
export function withPath(thrown: unknown, path: string): unknown {
  return thrown instanceof Error && 'syscall' in thrown && !('path' in thrown)
    ? Object.assign(thrown, { path })
    : thrown
}

type SystemFault = (path: string | undefined, options: Pick<VoxmuxErrorOptions, 'cause' | 'input'>) => VoxmuxError

/** Errors of a file system that a user can fix, by the codes of the system. */
const SYSTEM_FAULTS: readonly (readonly [codes: string, fault: SystemFault])[] = [
  [
    'ENOSPC EDQUOT',
    // A full disk is never that of the input, which is only read.
    (path = 'a file of this job', options) =>
      new TransientError('ERR_DISK_FULL', `No space left while writing ${path}.`, {
        ...options,
        remedies: [
          'Free some space on that disk, then run the same command again. Voices that are paid for are kept.',
          OTHER_DISK,
        ],
      }),
  ],
  ['EFBIG', (path = 'The output', options) => outputTooLarge(path, options)],
  [
    'EACCES EPERM EROFS',
    (path, options) =>
      new UsageError('ERR_NOT_PERMITTED', `Permission denied: ${path ?? options.input ?? 'the file'}.`, {
        ...options,
        remedies: ['Check the owner and the permissions of the file and of its folder.'],
      }),
  ],
  [
    'EIO ESTALE ENODEV ENXIO ENOTCONN EHOSTDOWN EHOSTUNREACH EREMOTEIO',
    (path, options) => storageAway(path ?? options.input ?? 'the file', options),
  ],
  [
    'EMFILE ENFILE',
    (_, options) =>
      new TransientError('ERR_TOO_MANY_FILES', 'Too many files are open.', {
        ...options,
        remedies: ['Raise the limit (ulimit -n) or lower --concurrency.'],
      }),
  ],
]

function fromSystemError(thrown: unknown, input?: string): VoxmuxError | undefined {
  const code = thrown instanceof Error ? systemCode(thrown) : undefined
  const [, fault] = SYSTEM_FAULTS.find(([codes]) => codes.split(' ').includes(code ?? '')) ?? []
  return fault?.((thrown as NodeJS.ErrnoException).path, { cause: thrown, input })
}

/** The message of any thrown value. JavaScript can throw anything, even objects that `String` rejects. */
export function thrownMessage(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message
  return typeof thrown === 'string' ? thrown : inspect(thrown, { depth: 1, breakLength: Number.POSITIVE_INFINITY })
}
