/**
 * CRC with the polynomial 0x04C11DB7, highest bit first: code of the tests' own, to judge what the writers compute.
 *
 * @param start 0 for pages of Ogg, 0xFFFFFFFF for tables of transport streams
 */
export function checksumOf(bytes: Uint8Array, start: number): number {
  let sum = start
  for (const byte of bytes) {
    sum ^= byte << 24
    for (let bit = 0; bit < 8; bit++) sum = sum & 0x8000_0000 ? (sum << 1) ^ 0x04c1_1db7 : sum << 1
  }
  return sum >>> 0
}
