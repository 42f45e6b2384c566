import { inspect } from 'node:util'

/** The message of any thrown value. JavaScript can throw anything, even objects that `String` rejects. */
export function thrownMessage(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message
  return typeof thrown === 'string' ? thrown : inspect(thrown, { depth: 1, breakLength: Number.POSITIVE_INFINITY })
}
