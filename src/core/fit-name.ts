import { createHash } from 'node:crypto'

/** The longest name that most file systems allow, in bytes. */
export const NAME_MAX_BYTES = 255

/**
 * Shortens a file name. A stem that is too long is cut and gets a hash of the whole. This way, two long names with the
 * same beginning stay different.
 *
 * @param maxBytes longest name in bytes
 */
export function fitName(stem: string, suffix: string, maxBytes = NAME_MAX_BYTES): string {
  const room = maxBytes - Buffer.byteLength(suffix)
  if (Buffer.byteLength(stem) <= room) return stem + suffix
  const tail = `~${createHash('sha256').update(stem).digest('hex').slice(0, 8)}`
  let kept = ''
  for (const character of stem) {
    if (Buffer.byteLength(kept + character + tail) > room) break
    kept += character
  }
  return kept + tail + suffix
}
