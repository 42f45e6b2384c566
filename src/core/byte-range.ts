/**
 * Reads a Range header (RFC 9110, 14.2).
 *
 * @returns null for the whole file (no header, several ranges, or an unreadable one); `unsatisfiable` for a range that
 * begins after the end
 */
export function readByteRange(header: string | undefined, sizeBytes: number) {
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(header?.trim() ?? '') ?? []
  if (first === '' && last === '') return null
  if (first === '') {
    const wanted = Math.min(Number(last), sizeBytes)
    return wanted === 0 ? 'unsatisfiable' : { firstByte: sizeBytes - wanted, lastByte: sizeBytes - 1 }
  }
  const firstByte = Number(first)
  const lastByte = last === '' ? sizeBytes - 1 : Math.min(Number(last), sizeBytes - 1)
  if (last !== '' && Number(last) < firstByte) return null
  return firstByte >= sizeBytes ? 'unsatisfiable' : { firstByte, lastByte }
}
