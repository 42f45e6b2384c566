/** A stretch of a text, in characters, and what stands there instead. */
export interface TextEdit {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** Makes edits that do not overlap; everything between them stays as it is, to the byte. */
export function applyEdits(text: string, edits: readonly TextEdit[]): string {
  let made = ''
  let at = 0
  for (const edit of [...edits].sort((a, b) => a.start - b.start || a.end - b.end)) {
    if (edit.start < at) throw new RangeError('edits overlap')
    made += text.slice(at, edit.start) + edit.text
    at = edit.end
  }
  return made + text.slice(at)
}
