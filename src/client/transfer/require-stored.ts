import type { Hash } from 'node:crypto'
import type { RegisteredFile } from '../../contract/index.js'
import { TransientError } from '../../core/errors.js'
import { redactText } from '../../core/redact.js'
import { statusFault, wordsOf } from '../exchange-json.js'
import { HttpFault } from '../http-fault.js'
import type { TextAnswer } from '../transport.js'

/** Statuses with which storage refuses a signed link. */
const LINK_REFUSED: ReadonlySet<number> = new Set([401, 403, 404, 410])
/** Some storages answer an expired link with 400, as they do a malformed request. */
const EXPIRED = /expired|signature|authenticat/i

/** Smallest difference that matters to signed links, which live for minutes to hours. */
const NOTABLE_MS = 2 * 60_000

/** An MD5 in base64 (RFC 1864). */
const MD5 = /^[A-Za-z0-9+/]{22}==$/

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
  const { status, text } = answer
  if (LINK_REFUSED.has(status) || (status === 400 && EXPIRED.test(text))) throw linkRefused(answer, registered, input)
  if (status < 200 || status > 299) throw statusFault('upload', answer)
  if (HTML_TYPE.test(answer.headers['content-type'] ?? '')) {
    const detail = 'a web page instead of a response of the storage'
    throw new HttpFault({ operation: 'upload', reason: 'bad-answer', detail })
  }
}

/**
 * Compares the MD5 that Azure and others return with an upload. Other bytes would be paid for.
 *
 * @param md5 returns that of the sent bytes, which is finished here; undefined if there is none
 * @returns `bad-answer` if the storage has other bytes
 */
export async function spoiledBytes(
  { headers }: TextAnswer,
  md5: () => Promise<Hash | undefined>,
): Promise<HttpFault | undefined> {
  const stored = String(headers['content-md5'])
  if (!MD5.test(stored)) return undefined
  const sent = await md5()
  if (!sent || stored === sent.digest('base64')) return undefined
  return new HttpFault({
    operation: 'upload',
    reason: 'bad-answer',
    detail: 'the storage has other bytes than were sent',
  })
}

function linkRefused(
  { status, text, headers }: TextAnswer,
  { file_id, file_upload_link }: RegisteredFile,
  input: string,
): TransientError {
  const clock = clockNote(headers.date)
  const words = [status, ...[redactText(wordsOf(text)), clock?.words].filter(Boolean)].join(', ')
  const { host } = new URL(file_upload_link)
  return new TransientError(
    'ERR_UPLOAD_LINK_EXPIRED',
    `${host} refused the upload link of file id ${file_id} (${words}).`,
    {
      input,
      remedies: [
        ...(clock ? [clock.remedy] : []),
        'Run the same command again in a few minutes: it registers the file again.',
        'If it stays so, check that no proxy or firewall refuses uploads.',
      ],
    },
  )
}

/**
 * Compares the clock of this machine with the `Date` of a response.
 *
 * @param date the header; undefined if the response has none
 * @returns undefined if they agree within two minutes, or the date is unknown
 */
function clockNote(date: string | undefined) {
  const aheadMs = Date.now() - Date.parse(date ?? '')
  if (Number.isNaN(aheadMs) || Math.abs(aheadMs) < NOTABLE_MS) return undefined
  const minutes = Math.round(Math.abs(aheadMs) / 60_000)
  const way = aheadMs > 0 ? 'ahead of' : 'behind'
  return {
    words: `the clock of this machine is ${minutes} minutes ${way} the clock of the service`,
    remedy: 'Set the clock of this machine (with NTP), then run again.',
  }
}
