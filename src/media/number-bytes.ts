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
