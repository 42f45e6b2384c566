import type { ServerResponse } from 'node:http'

/** Scripts, styles and pictures come only from here, nothing is inline, and no page may frame this one. */
const PAGE_POLICY = [
  "default-src 'none'",
  ...["script-src 'self'", "style-src 'self'", "img-src 'self' data:", "media-src 'self'", "connect-src 'self'"],
  ...["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'", "require-trusted-types-for 'script'"],
].join('; ')

/** For untrusted files: a report gets its own origin, which cannot read the token. */
export const SANDBOX_POLICY =
  "sandbox allow-scripts; default-src 'none'; img-src data:; media-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'; frame-ancestors 'none'"

/** Sets the headers of every response. */
export function setSecurityHeaders(response: ServerResponse): void {
  response.setHeader('content-security-policy', PAGE_POLICY)
  response.setHeader('x-content-type-options', 'nosniff')
  response.setHeader('x-frame-options', 'DENY')
  response.setHeader('referrer-policy', 'no-referrer')
  response.setHeader('cross-origin-opener-policy', 'same-origin')
  response.setHeader('cross-origin-resource-policy', 'same-origin')
  response.setHeader('cache-control', 'no-store')
}

/** Sends a text of a media type. */
export function sendText(response: ServerResponse, status: number, type: string, text: string | Buffer): void {
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(text) })
  response.end(text)
}

/** Sends JSON. */
export function sendJson(response: ServerResponse, status: number, value: unknown): void {
  sendText(response, status, 'application/json; charset=utf-8', `${JSON.stringify(value)}\n`)
}

/** Sends an error with a sentence for people. */
export function sendError(response: ServerResponse, status: number, message: string): void {
  sendJson(response, status, { error: { message } })
}
