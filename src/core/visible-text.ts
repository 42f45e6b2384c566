/**
 * Characters that a terminal or a page obeys or does not show: controls, bidi marks, line separators, half characters and blanks without width. Joiners in scripts and emoji that need them, and variation
 * selectors, are left alone.
 */
const UNSEEN = String.raw`(?!(?<=[^\0-\x7f])[\u200c\u200d])(?!\p{Variation_Selector})[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]`
const ANY_UNSEEN = new RegExp(UNSEEN, 'gu')
/** Line breaks and the colours of picocolors are voxmux's own. */
const OWN_OR_UNSEEN = new RegExp(String.raw`(\n|\u001b\[(?:[0-2]|22|3[1-79]|90)m)|${UNSEEN}`, 'gu')

/** A control that no text contains. */
const CONTROL = /(?![\t\n\f\r])\p{Cc}/u

/**
 * Writes such characters as their codes, such as `\u202e`. A file name can contain any of them, and would otherwise move
 * the cursor, add a line, or show another name than its own.
 */
export function visibleText(text: string): string {
  return text.replace(ANY_UNSEEN, codeOf)
}

/** The same for text that has lines and colours of its own. */
export function visibleLines(text: string): string {
  return text.replace(OWN_OR_UNSEEN, (found, own: string | undefined) => own ?? codeOf(found))
}

/** The same for JSON, which keeps its value: JSON has the same codes. */
export function visibleJson(json: string): string {
  return json.replace(OWN_OR_UNSEEN, (found, own: string | undefined) => own ?? found.split('').map(codeOf).join(''))
}

/** True if the first bytes of a file are UTF-8 text, such as a program, a web page or an error message. */
export function isText(head: Buffer): boolean {
  try {
    // As a stream, because the last character may be cut.
    const text = new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: true })
    // A log has escapes for its colours.
    return !CONTROL.test(text.replaceAll('\u001b', ''))
  } catch {
    return false
  }
}

function codeOf(character: string): string {
  const code = (character.codePointAt(0) ?? 0).toString(16)
  return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`
}
