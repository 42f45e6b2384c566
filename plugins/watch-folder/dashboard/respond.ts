import type { ServerResponse } from 'node:http'

/** Scripts, styles and pictures come from here alone, nothing is inline, and no page may frame this one. */
const PAGE_POLICY = [
  "default-src 'none'",
  ...["script-src 'self'", "style-src 'self'", "img-src 'self' data:", "media-src 'self'", "connect-src 'self'"],
  ...["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'", "require-trusted-types-for 'script'"],
].join('; ')

/** For files that are not ours to trust: a report gets an origin of its own, out of reach of the token. */
export const SANDBOX_POLICY =
  "sandbox allow-scripts; default-src 'none'; img-src data:; media-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'; frame-ancestors 'none'"

/** Sets what every answer carries. */
export function setSecurityHeaders(response: ServerResponse): void {
  response.setHeader('content-security-policy', PAGE_POLICY)
  response.setHeader('x-content-type-options', 'nosniff')
  response.setHeader('x-frame-options', 'DENY')
  response.setHeader('referrer-policy', 'no-referrer')
  response.setHeader('cross-origin-opener-policy', 'same-origin')
  response.setHeader('cross-origin-resource-policy', 'same-origin')
  response.setHeader('cache-control', 'no-store')
}

/** Answers with a text of a type. */
export function sendText(response: ServerResponse, status: number, type: string, text: string | Buffer): void {
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(text) })
  response.end(text)
}

/** Answers with JSON. */
export function sendJson(response: ServerResponse, status: number, value: unknown): void {
  sendText(response, status, 'application/json; charset=utf-8', `${JSON.stringify(value)}\n`)
}

/** Answers with a fault in a sentence that a person can be shown. */
export function sendError(response: ServerResponse, status: number, message: string): void {
  sendJson(response, status, { error: { message } })
}
