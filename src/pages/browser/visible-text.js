const UNSEEN =
  /(?!(?<=[^\0-\x7f])[\u200c\u200d])(?!\p{Variation_Selector})[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/gu

/** The page's copy of `visibleText` in src/core, which a browser cannot load. A test keeps both equal. */
export function visibleText(text) {
  return text.replace(UNSEEN, (character) => {
    const code = character.codePointAt(0).toString(16)
    return code.length > 4 ? `\\u{${code}}` : `\\u${code.padStart(4, '0')}`
  })
}
