import { type ExitCode, toVoxmuxError } from '../../core/errors.js'

/** What the doctor found out about one thing. */
export interface Finding {
  readonly check: string
  readonly status: 'ok' | 'note' | 'fault'
  readonly detail: string
  readonly remedies: readonly string[]
  /** Of a fault: what a command that needs this would end with. */
  readonly exitCode: ExitCode
}

export function fine(check: string, detail: string): Finding {
  return { check, status: 'ok', detail, remedies: [], exitCode: 0 }
}

export function remark(check: string, detail: string, remedies: readonly string[] = []): Finding {
  return { check, status: 'note', detail, remedies, exitCode: 0 }
}

/** A check that threw. */
export function fault(check: string, thrown: unknown): Finding {
  const { message, remedies, exitCode } = toVoxmuxError(thrown)
  return { check, status: 'fault', detail: message, remedies, exitCode }
}

/** Runs a check; what it throws is what it found. */
export async function finding(check: string, look: () => Promise<string>): Promise<Finding> {
  try {
    return fine(check, await look())
  } catch (thrown) {
    return fault(check, thrown)
  }
}
