import { describe, expect, it } from 'vitest'
import { terminalSvg } from '../../docs/terminal-svg.js'

describe('the picture of a terminal', () => {
  it('keeps colours and weights and drops the sequences', () => {
    const svg = terminalSvg('\u001b[32m✓\u001b[39m \u001b[1mdone\u001b[22m plain\n', 'a run')
    expect(svg).toContain('<tspan fill="#7ee787">✓</tspan>')
    expect(svg).toContain('<tspan font-weight="bold">done</tspan>')
    expect(svg).toContain('<tspan> plain</tspan>')
    expect(svg).not.toContain('\u001b')
  })

  it('escapes what would be markup', () => {
    expect(terminalSvg('<script> & co', 'a run')).toContain('&lt;script&gt; &amp; co')
  })

  it('is as wide as the longest line, not counting the sequences', () => {
    const width = (text: string) => Number(/width="(\d+)"/.exec(terminalSvg(text, 'a run'))?.[1])
    expect(width(`\u001b[31m${'x'.repeat(40)}\u001b[39m`)).toBe(width('x'.repeat(40)))
    expect(width('x'.repeat(80))).toBeGreaterThan(width('x'.repeat(40)))
  })
})
