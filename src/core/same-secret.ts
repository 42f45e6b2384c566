import { createHash, timingSafeEqual } from 'node:crypto'

/** Compares two secrets. Takes the same time however much of the first one is right, and however long it is. */
export function isSameSecret(given: string, secret: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(secret))
}
