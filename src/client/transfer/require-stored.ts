import type { RegisteredFile } from '../../contract/index.js'
import { TransientError } from '../../core/errors.js'
import { statusFault } from '../exchange-json.js'
import { LINK_REFUSED } from '../fault-error.js'
import { HttpFault } from '../http-fault.js'
import type { TextAnswer } from '../transport.js'

/** Smallest difference that matters to signed links, which live for minutes to hours. */
const NOTABLE_MS = 2 * 60_000

/** The login page of a network or a proxy, sent with a 200. */
export const HTML_TYPE = /^\s*(text\/html|application\/xhtml\+xml)/i

/**
 * Checks the response of storage to an upload.
 *
 * @param input names the file in an error
 * @throws {TransientError} `ERR_UPLOAD_LINK_EXPIRED` if storage refused the link
 * @throws {HttpFault} for every other response but a success
 */
export function requireStored(answer: TextAnswer, registered: RegisteredFile, input: string): void {
  if (LINK_REFUSED.has(answer.status)) throw linkExpired(registered, input, clockNote(answer.headers.date))
  if (answer.status < 200 || answer.status > 299) throw statusFault('upload', answer)
  if (HTML_TYPE.test(answer.headers['content-type'] ?? '')) {
    const detail = 'a web page instead of a response of the storage'
    throw new HttpFault({ operation: 'upload', reason: 'bad-answer', detail })
  }
}

function linkExpired(registered: RegisteredFile, input: string, clock: ClockNote | undefined): TransientError {
  const message = `The upload link for file id ${registered.file_id} has expired${clock ? `; ${clock.words}` : ''}.`
  return new TransientError('ERR_UPLOAD_LINK_EXPIRED', message, {
    input,
    remedies: [...(clock ? [clock.remedy] : []), 'Register the file again.'],
  })
}

/** Reports that the clocks of this machine and of the service differ. */
interface ClockNote {
  /** Part of a sentence. */
  readonly words: string
  readonly remedy: string
}

/**
 * Compares the clock of this machine with the `Date` of a response.
 *
 * @param date the header; undefined if the response has none
 * @returns undefined if they agree within two minutes, or the date is unknown
 */
function clockNote(date: string | undefined, nowMs: number = Date.now()): ClockNote | undefined {
  const aheadMs = nowMs - Date.parse(date ?? '')
  if (Number.isNaN(aheadMs) || Math.abs(aheadMs) < NOTABLE_MS) return undefined
  const minutes = Math.round(Math.abs(aheadMs) / 60_000)
  const way = aheadMs > 0 ? 'ahead of' : 'behind'
  return {
    words: `the clock of this machine is ${minutes} minutes ${way} the clock of the service`,
    remedy: 'Set the clock of this machine (with NTP), then run again.',
  }
}
