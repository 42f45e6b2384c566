import type { FileErrorCode } from '../../contract/index.js'
import type { Limits } from '../limits.js'
import type { Subject } from '../subject.js'
import type { Severity } from '../verdict.js'

/** One way in which a file can be refused. Pure: what it says follows from its two arguments. */
export interface Rule {
  readonly errorCode: FileErrorCode
  /** The problem, a sentence in the file's own terms; null where there is none or too little is known. */
  readonly problem: (subject: Subject, limits: Limits) => string | null
  /** Absent: always `refuse`. */
  readonly severity?: (limits: Limits) => Severity
}
