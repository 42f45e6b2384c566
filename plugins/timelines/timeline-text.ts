/** How a timeline's bytes are its text. */
export type TextEncoding = 'utf8' | 'utf16le' | 'utf16be' | 'latin1'

/** Reads a timeline's bytes so that {@link encodeText} gives every one of them back. */
export function decodeText(bytes: Buffer): { readonly text: string; readonly encoding: TextEncoding } {
  const encoding = encodingOf(bytes)
  if (encoding === 'utf16be') return { encoding, text: Buffer.from(bytes).swap16().toString('utf16le') }
  return { encoding, text: bytes.toString(encoding) }
}

/** A text in the encoding that its timeline had; in UTF-8 if that has no signs for it. */
export function encodeText(text: string, encoding: TextEncoding): Buffer {
  if (encoding === 'utf16be') return Buffer.from(text, 'utf16le').swap16()
  const isLost = encoding === 'latin1' && /[\u0100-\uffff]/.test(text)
  return Buffer.from(text, isLost ? 'utf8' : encoding)
}

/** UTF-16 begins with its mark; other text that is not UTF-8 comes from an older system with one byte per sign. */
function encodingOf(bytes: Buffer): TextEncoding {
  const isEven = bytes.length % 2 === 0
  if (isEven && bytes[0] === 0xff && bytes[1] === 0xfe) return 'utf16le'
  if (isEven && bytes[0] === 0xfe && bytes[1] === 0xff) return 'utf16be'
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return 'utf8'
  } catch {
    return 'latin1'
  }
}
