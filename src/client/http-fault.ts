import { redactText } from '../core/redact.js'

/**
 * What went wrong with one exchange.
 * - `unsent`: no connection was made, so nothing was asked of the service
 * - `network`: the connection broke; `timeout`: it kept silent
 * - `insecure`: the certificate was refused, or a redirect led to plain http
 * - `status`: an HTTP status other than success; `bad-answer`: a success whose body is not the contract's
 * - `start-error`: a 200 of startProcess whose `error` is set (`status` is its code)
 */
export type FaultReason = 'unsent' | 'network' | 'timeout' | 'insecure' | 'status' | 'bad-answer' | 'start-error'

export interface HttpFaultFields {
  /** Operation of the interface, `token`, `upload` or `download`. */
  readonly operation: string
  readonly reason: FaultReason
  readonly status?: number | undefined
  /** Pause the service asked for. */
  readonly retryAfterMs?: number | undefined
  /** The service's own words, or the network's. */
  readonly detail?: string | undefined
}

/**
 * One failed exchange, with nothing secret in it: the `cause` of every error the client throws for one.
 * Errors of the HTTP library never leave the transport, since they hold headers and links.
 */
export class HttpFault extends Error {
  readonly operation: string
  readonly reason: FaultReason
  readonly status: number | undefined
  readonly retryAfterMs: number | undefined
  readonly detail: string

  constructor(fields: HttpFaultFields) {
    const detail = redactText(fields.detail ?? '').slice(0, 500)
    super(`${fields.operation}: ${fields.reason}${fields.status ? ` ${fields.status}` : ''}${detail && `: ${detail}`}`)
    this.name = 'HttpFault'
    this.operation = fields.operation
    this.reason = fields.reason
    this.status = fields.status
    this.retryAfterMs = fields.retryAfterMs
    this.detail = detail
  }

  /** Whether the service may have done what was asked although no proper answer arrived. */
  get ambiguous(): boolean {
    switch (this.reason) {
      case 'network':
      case 'timeout':
      case 'bad-answer':
        return true
      case 'status':
        return (this.status ?? 0) >= 500
      case 'unsent':
      case 'insecure':
      case 'start-error':
        return false
      default:
        return this.reason satisfies never
    }
  }

  /** Whether the same request may succeed a moment later. */
  get transient(): boolean {
    switch (this.reason) {
      case 'unsent':
      case 'network':
      case 'timeout':
      case 'bad-answer':
        return true
      case 'status':
      case 'start-error':
        return this.status === 408 || this.status === 429 || (this.status ?? 0) >= 500
      case 'insecure':
        return false
      default:
        return this.reason satisfies never
    }
  }
}

/** The fault behind an error of the client, where there is one. */
export function httpFaultOf(error: unknown): HttpFault | undefined {
  if (error instanceof HttpFault) return error
  return error instanceof Error && error.cause instanceof HttpFault ? error.cause : undefined
}
