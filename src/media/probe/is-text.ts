/** Control characters that no text has. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROL = /[\0-\x08\x0e-\x1a\x1c-\x1f]/

/** True if the first bytes of a file are UTF-8 text, such as a web page, a subtitle or an error message. */
export function isText(head: Buffer): boolean {
  // The last character may be cut.
  const text = new TextDecoder().decode(head, { stream: true })
  return text !== '' && !text.includes('\ufffd') && !CONTROL.test(text)
}
