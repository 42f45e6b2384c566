/** A structure that breaks its standard, or that voxmux could not write. The message is the reason in the plan. */
export class MalformedFile extends Error {}

/**
 * The reason why a structure cannot be read, from the error of its reader. One that ends before its fields is malformed
 * too. Throws any other error.
 */
export function malformedReason(error: unknown): string {
  if (error instanceof MalformedFile) return error.message
  if (isOutside(error)) return 'one of its structures is shorter than its fields'
  throw error
}

/** True for the error of a read behind the end of a buffer. */
function isOutside(error: unknown): boolean {
  return error instanceof RangeError && 'code' in error && OUTSIDE.has(error.code)
}

const OUTSIDE: ReadonlySet<unknown> = new Set(['ERR_OUT_OF_RANGE', 'ERR_BUFFER_OUT_OF_BOUNDS'])

/** The result of a reading, or the fallback if the structure is malformed. */
export function unlessMalformed<T, Fallback>(read: () => T, fallback: Fallback): T | Fallback {
  try {
    return read()
  } catch (error) {
    if (error instanceof MalformedFile) return fallback
    throw error
  }
}
