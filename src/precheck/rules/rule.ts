import type { FileErrorCode } from '../../contract/index.js'
import type { Limits } from '../limits.js'
import type { Subject } from '../subject.js'
import type { Severity } from '../verdict.js'

/** One reason to refuse a file. Pure: the result depends only on the two arguments. */
export interface Rule {
  readonly errorCode: FileErrorCode
  /** The problem as a sentence about the file; null if there is none or too little is known. */
  readonly problem: (subject: Subject, limits: Limits) => string | null
  /** Absent: always `refuse`. */
  readonly severity?: (limits: Limits) => Severity
  /** Absent: those of the error code. */
  readonly remedies?: readonly string[]
}
