import { randomBytes } from 'node:crypto'

/** Crockford's base 32, without letters that look alike. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const RANDOM_BITS = 80n

let lastMs = 0
let lastRandom = 0n

/** Creates a ULID: 26 characters that sort by time, strictly rising within a process even if the clock is not. */
export function sortableId(nowMs: number = Date.now()): string {
  if (nowMs > lastMs) {
    lastMs = nowMs
    // One bit less than there is room for, so that counting up within a millisecond never overflows.
    lastRandom = BigInt(`0x${randomBytes(10).toString('hex')}`) >> 1n
  } else {
    lastRandom += 1n
  }
  return encode((BigInt(lastMs) << RANDOM_BITS) | lastRandom)
}

function encode(value: bigint): string {
  let text = ''
  for (let rest = value, place = 0; place < 26; place += 1, rest >>= 5n)
    text = ALPHABET.charAt(Number(rest & 31n)) + text
  return text
}
