/** A structure that breaks its standard, or that voxmux could not write. The message is the reason in the plan. */
export class MalformedFile extends Error {}

/** The result of a reading, or the fallback if the structure is malformed. */
export function unlessMalformed<T, Fallback>(read: () => T, fallback: Fallback): T | Fallback {
  try {
    return read()
  } catch (error) {
    if (error instanceof MalformedFile) return fallback
    throw error
  }
}
