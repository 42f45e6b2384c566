import { inspect } from 'node:util'

/** What a thrown value says, whatever it is: JavaScript throws anything, also objects that `String` refuses. */
export function thrownMessage(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message
  return typeof thrown === 'string' ? thrown : inspect(thrown, { depth: 1, breakLength: Number.POSITIVE_INFINITY })
}
