/** Reads a hash from the answer of a script (names and values in turn). Empty if there is none. */
export function hashOf(flat: unknown): ReadonlyMap<string, string> {
  const hash = new Map<string, string>()
  const list = Array.isArray(flat) ? flat : []
  for (let at = 0; at + 1 < list.length; at += 2) hash.set(String(list[at]), String(list[at + 1]))
  return hash
}
