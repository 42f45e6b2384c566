import { redactText } from '../core/redact.js'

/**
 * Why a request failed.
 * - `unsent`: no connection was made, so the service did not receive it
 * - `network`: the connection broke; `timeout`: it stayed silent
 * - `insecure`: the certificate was rejected, the two sides have no TLS in common, only the server speaks TLS, or a
 *   redirect led to plain http
 * - `redirect`: a redirect led to an address that is neither http nor https
 * - `status`: an unsuccessful HTTP status; `bad-answer`: a success whose body breaks the contract
 * - `start-error`: a 200 of startProcess with an `error` (`status` is its code)
 */
type FaultReason = 'unsent' | 'network' | 'timeout' | 'insecure' | 'redirect' | 'status' | 'bad-answer' | 'start-error'

/** Statuses of a server that has not executed a request, and asks for it again later (RFC 8470, RFC 6585). */
const TOO_EARLY_OR_MANY: ReadonlySet<number> = new Set([425, 429])

interface HttpFaultFields {
  /** Operation of the interface, `token`, `upload` or `download`. */
  readonly operation: string
  readonly reason: FaultReason
  readonly status?: number | undefined
  /** Pause that the service requested. */
  readonly retryAfterMs?: number | undefined
  /** Message of the service or of the network. */
  readonly detail?: string | undefined
  /** Name of the variable with a proxy that Node was not told to use. */
  readonly unusedProxy?: string | undefined
}

/**
 * A failed request without secrets: the `cause` of every error that the client throws for it. Errors of the HTTP
 * library stay inside the transport, because they contain headers and links.
 */
export class HttpFault extends Error {
  readonly operation: string
  readonly reason: FaultReason
  readonly status: number | undefined
  readonly retryAfterMs: number | undefined
  readonly detail: string
  readonly unusedProxy: string | undefined

  constructor(fields: HttpFaultFields) {
    const detail = redactText(fields.detail ?? '').slice(0, 500)
    super(`${fields.operation}: ${fields.reason}${fields.status ? ` ${fields.status}` : ''}${detail && `: ${detail}`}`)
    this.name = 'HttpFault'
    this.operation = fields.operation
    this.reason = fields.reason
    this.status = fields.status
    this.retryAfterMs = fields.retryAfterMs
    this.detail = detail
    this.unusedProxy = fields.unusedProxy
  }

  /** True if the service may have executed the request although no valid response arrived. */
  get ambiguous(): boolean {
    switch (this.reason) {
      case 'network':
      case 'timeout':
      case 'bad-answer':
        return true
      case 'status':
      case 'start-error':
        // A gateway sends 408 too. The service behind it may have accepted the request.
        return this.status === 408 || (this.status ?? 0) >= 500
      case 'unsent':
      case 'insecure':
      case 'redirect':
        return false
      default:
        return this.reason satisfies never
    }
  }

  /** True if the same request may succeed a moment later. */
  get transient(): boolean {
    // The interface defines no 404 for a status, so it comes from a gateway. No file fails because of it.
    const isLost = this.status === 404 && this.operation === 'getFilesStatus'
    return this.ambiguous || this.reason === 'unsent' || TOO_EARLY_OR_MANY.has(this.status ?? 0) || isLost
  }
}

/** The fault that caused an error of the client, if any. */
export function httpFaultOf(error: unknown): HttpFault | undefined {
  if (error instanceof HttpFault) return error
  return error instanceof Error && error.cause instanceof HttpFault ? error.cause : undefined
}
