/** Numbers of 32 bits, the highest byte first. */
export function uint32BE(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length)
  for (const [place, value] of values.entries()) bytes.writeUInt32BE(value, 4 * place)
  return bytes
}

/** A number of 32 bits, the lowest byte first. */
export function uint32LE(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

/** Reads a number of up to 8 bytes, the highest first; 0 of none. */
export function readUintBE(bytes: Buffer, at: number, width: number): number {
  if (width === 8) return Number(bytes.readBigUInt64BE(at))
  return width > 0 ? bytes.readUIntBE(at, width) : 0
}

/** Writes a number of 1 to 8 bytes, the highest first. @throws RangeError if it does not fit */
export function writeUintBE(bytes: Buffer, value: number, at: number, width: number): void {
  if (width === 8) bytes.writeBigUInt64BE(BigInt(value), at)
  else bytes.writeUIntBE(value, at, width)
}
