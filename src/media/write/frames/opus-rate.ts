/** Place of the rate in `OpusHead`, and its bytes (RFC 7845, section 5.1). The box `dOps` has it at the same place. */
const [RATE_AT, RATE_BYTES] = [12, 4]

/**
 * The head of new Opus with the rate that the old one states. Opus itself has 48 kHz; this is the rate that the sound had
 * before, and to which programs decode it.
 */
export function withOpusRate(old: Buffer | undefined, made: Buffer): Buffer {
  if (old === undefined || Math.min(old.length, made.length) < RATE_AT + RATE_BYTES) return made
  const head = Buffer.from(made)
  old.copy(head, RATE_AT, RATE_AT, RATE_AT + RATE_BYTES)
  return head
}
