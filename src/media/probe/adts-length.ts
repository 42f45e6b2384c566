/** Bytes of the header of an ADTS frame without a checksum. */
export const ADTS_HEAD_BYTES = 7

/** Length in bytes of an ADTS frame from its header (ISO/IEC 13818-7); 0 if there is none. */
export function adtsLength(bytes: Buffer, at: number): number {
  if (at + ADTS_HEAD_BYTES > bytes.length || (bytes.readUInt16BE(at) & 0xfff6) !== 0xfff0) return 0
  const length = (bytes.readUInt32BE(at + 3) >>> 13) & 0x1fff
  return length >= ADTS_HEAD_BYTES ? length : 0
}
