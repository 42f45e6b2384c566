import type { IncomingHttpHeaders } from 'node:http'

/**
 * Requests the rest of the same file if a part exists; `{}` requests the whole.
 *
 * @param validator see {@link validatorOf}. Without one, only the total length can be compared (Content-Range).
 */
export function rangeHeaders(writtenBytes: number, validator: string | null): Record<string, string> {
  if (writtenBytes === 0) return {}
  const range = { range: `bytes=${writtenBytes}-` }
  return validator === null ? range : { ...range, 'if-range': validator }
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
