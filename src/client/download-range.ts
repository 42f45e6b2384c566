import type { IncomingHttpHeaders } from 'node:http'

/** How far a download is, and by what its source is known again. */
export interface DownloadState {
  writtenBytes: number
  /** Length announced, null where it was not. */
  totalBytes: number | null
  /** Strong entity tag, or the date of the last change: what If-Range may carry (RFC 9110, 13.1.5). */
  validator: string | null
}

/** Asks for the rest where some is there already, for the same file only; `{}` asks for the whole. */
export function rangeHeaders(state: DownloadState): Record<string, string> {
  if (state.writtenBytes === 0) return {}
  const range = { range: `bytes=${state.writtenBytes}-` }
  // Without a validator the total length, compared with Content-Range, must do.
  return state.validator === null ? range : { ...range, 'if-range': state.validator }
}

/** The validator of an answer: a weak entity tag is none. */
export function validatorOf(headers: IncomingHttpHeaders): string | null {
  const { etag, 'last-modified': lastModified } = headers
  if (etag && !etag.startsWith('W/')) return etag
  return lastModified ?? null
}

/** Reads `bytes 5-9/10`; undefined for anything else, an unknown total included. */
export function contentRange(header: string | undefined): { startByte: number; totalBytes: number } | undefined {
  const match = /^bytes (\d+)-\d+\/(\d+)$/.exec(header ?? '')
  return match ? { startByte: Number(match[1]), totalBytes: Number(match[2]) } : undefined
}
