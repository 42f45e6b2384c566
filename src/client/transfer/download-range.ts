import type { IncomingHttpHeaders } from 'node:http'

/** Progress of a download, and the validator of its source. */
export interface DownloadState {
  writtenBytes: number
  /** Announced length, or null. */
  totalBytes: number | null
  /** Strong entity tag or date of the last change: the values that If-Range accepts (RFC 9110, 13.1.5). */
  validator: string | null
  /** True if the written bytes were decoded from a `Content-Encoding`. */
  isEncoded: boolean
}

/** Requests the rest of the same file if a part exists; `{}` requests the whole. */
export function rangeHeaders(state: DownloadState): Record<string, string> {
  if (state.writtenBytes === 0) return {}
  const range = { range: `bytes=${state.writtenBytes}-` }
  // Without a validator, only the total length can be compared (Content-Range).
  return state.validator === null ? range : { ...range, 'if-range': state.validator }
}

/** The validator of a response. A weak entity tag does not count. */
export function validatorOf(headers: IncomingHttpHeaders): string | null {
  const { etag, 'last-modified': lastModified } = headers
  if (etag && !etag.startsWith('W/')) return etag
  return lastModified ?? null
}

/** Reads `bytes 5-9/10`; undefined for anything else, including an unknown total. */
export function contentRange(header: string | undefined): { startByte: number; totalBytes: number } | undefined {
  const match = /^bytes (\d+)-\d+\/(\d+)$/.exec(header ?? '')
  return match ? { startByte: Number(match[1]), totalBytes: Number(match[2]) } : undefined
}
