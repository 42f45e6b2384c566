import { expect, it } from 'vitest'
import { visibleJson, visibleLines, visibleText } from '../../src/core/visible-text.js'

const PAGE = '../../src/pages/browser/visible-text.js'
const onPage = (await import(PAGE)) as { visibleText(text: string): string }

const ROWS: readonly (readonly [text: string, shown: string])[] = [
  ['photo\u202egpj.wav', 'photo\\u202egpj.wav'],
  ['a\u200eb\u2066c\u2069', 'a\\u200eb\\u2066c\\u2069'],
  ['two\nlines\r\t', 'two\\u000alines\\u000d\\u0009'],
  ['\u001b[2Jclear\u009b1A\u007f', '\\u001b[2Jclear\\u009b1A\\u007f'],
  ['a\u200bb\u00adc\ufeff\u2028\u3164', 'a\\u200bb\\u00adc\\ufeff\\u2028\\u3164'],
  ['tag \u{e0041}', 'tag \\u{e0041}'],
  ['half \ud83d', 'half \\ud83d'],
  ['ab\u200dcd', 'ab\\u200dcd'],
  // Joiners and variation selectors that a script or an emoji needs, and everything that can be seen.
  ['👨‍👩‍👧 ☕️ می‌خواهم', '👨‍👩‍👧 ☕️ می‌خواهم'],
  ['café 日本 Ω\u00a0!', 'café 日本 Ω\u00a0!'],
]

it.each(ROWS)('shows %j as it is', (text, shown) => {
  expect(visibleText(text)).toBe(shown)
  expect(onPage.visibleText(text)).toBe(shown)
  expect(visibleText(shown)).toBe(shown)
})

it('keeps the lines and colours of voxmux, and no other command to the terminal', () => {
  expect(visibleLines('\u001b[32m✔\u001b[39m a\n\u001b[8mhidden\u001b]0;title\u0007')).toBe(
    '\u001b[32m✔\u001b[39m a\n\\u001b[8mhidden\\u001b]0;title\\u0007',
  )
})

it.each(ROWS)('writes %j into JSON without a change of its value', (text) => {
  const line = visibleJson(`${JSON.stringify({ text })}\n`)
  expect(line).not.toMatch(/\u202e|\u200b|\u009b/)
  expect(JSON.parse(line)).toEqual({ text })
})
