import { type ExitCode, toVoxmuxError } from '../../core/errors.js'

/** One result of the doctor. */
export interface Finding {
  readonly check: string
  readonly status: 'ok' | 'note' | 'fault'
  readonly detail: string
  readonly remedies: readonly string[]
  /** For a fault, the exit code of a command that needs this. */
  readonly exitCode: ExitCode
}

export function fine(check: string, detail: string): Finding {
  return { check, status: 'ok', detail, remedies: [], exitCode: 0 }
}

export function remark(check: string, detail: string, remedies: readonly string[] = []): Finding {
  return { check, status: 'note', detail, remedies, exitCode: 0 }
}

/** Turns a thrown error into a fault. */
export function fault(check: string, thrown: unknown): Finding {
  const { message, remedies, exitCode } = toVoxmuxError(thrown)
  return { check, status: 'fault', detail: message, remedies, exitCode }
}

/** Runs a check and returns its result. A thrown error becomes a fault. */
export async function finding(check: string, look: () => Promise<string>): Promise<Finding> {
  try {
    return fine(check, await look())
  } catch (thrown) {
    return fault(check, thrown)
  }
}
