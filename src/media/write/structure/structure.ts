import { MalformedFile } from '../../probe/malformed-file.js'

/** A named part of a file. Offsets and lengths in bytes. */
export interface Structure {
  /** Names from the outside in, e.g. `moov/trak/tkhd`. */
  readonly path: string
  readonly start: number
  /** Header and padding included; a structure whose parts are listed counts with its header alone. */
  readonly length: number
}

/** Limit for one table; no sane file has more. */
export const MAX_STRUCTURES = 500_000

/**
 * Ends the reading of a table with too many entries: they may be empty, and a file of nothing else would fill the memory.
 *
 * @param what names the entries in the plan
 * @throws {MalformedFile}
 */
export function requireSane({ length }: readonly unknown[], what: string): void {
  if (length > MAX_STRUCTURES) throw new MalformedFile(`it has more than ${MAX_STRUCTURES} ${what}`)
}

/** Joins neighbours of the same name: a hundred thousand frames become one essence. */
export function joinNeighbours<S extends Structure>(structures: Iterable<S>): readonly S[] {
  const joined: S[] = []
  for (const part of structures) {
    if (part.length === 0) continue
    const last = joined.at(-1)
    if (last && last.path === part.path && last.start + last.length === part.start) {
      joined[joined.length - 1] = { ...last, length: last.length + part.length }
    } else joined.push(part)
  }
  return joined
}
