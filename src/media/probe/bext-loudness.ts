/** Offset of the version in the content of a bext chunk, and of its five loudness figures (EBU Tech 3285, version 2). */
const VERSION_AT = 346
const LOUDNESS_AT = 412
const FIGURES = 5
const NOT_MEASURED = 0x7fff

/** Bytes of a bext chunk's content up to the end of its loudness figures. */
export const BEXT_LOUDNESS_END = LOUDNESS_AT + 2 * FIGURES

/** True if the content of a bext chunk states a loudness. Zeros and 0x7fff come from writers that measured nothing. */
export function hasLoudness(bext: Buffer): boolean {
  if (bext.length < BEXT_LOUDNESS_END || bext.readUInt16LE(VERSION_AT) < 2) return false
  return places().some((at) => ![0, NOT_MEASURED].includes(bext.readUInt16LE(at)))
}

/** Marks the loudness figures of a bext chunk's content as not measured, in place; changes nothing if there are none. */
export function clearLoudness(bext: Buffer): void {
  if (!hasLoudness(bext)) return
  for (const at of places()) bext.writeUInt16LE(NOT_MEASURED, at)
}

function places(): readonly number[] {
  return Array.from({ length: FIGURES }, (_, place) => LOUDNESS_AT + 2 * place)
}
