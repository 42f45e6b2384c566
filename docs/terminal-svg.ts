const FONT_SIZE = 14
const LINE_HEIGHT = 21
const CHAR_WIDTH = 8.43
const PADDING = 20
const COLOURS: Readonly<Record<number, string>> = {
  31: '#ff7b72',
  32: '#7ee787',
  33: '#e3b341',
  34: '#79c0ff',
  35: '#d2a8ff',
  36: '#76e3ea',
  90: '#8b949e',
}

interface Style {
  readonly colour: string | null
  readonly bold: boolean
  readonly dim: boolean
}

const PLAIN: Style = { colour: null, bold: false, dim: false }

/**
 * Draws what a terminal showed as a picture for the README.
 *
 * @param text lines as they were printed, with the colours (SGR sequences) that were printed
 * @param title for those who cannot see it
 * @returns SVG
 */
export function terminalSvg(text: string, title: string): string {
  const lines = text.trimEnd().split('\n')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the escape character is what is looked for
  const longest = Math.max(...lines.map((line) => line.replaceAll(/\u001b\[[\d;]*m/g, '').length))
  const width = Math.ceil(longest * CHAR_WIDTH + 2 * PADDING)
  const height = lines.length * LINE_HEIGHT + 2 * PADDING
  const rows = lines.map((line, index) => {
    const y = PADDING + FONT_SIZE + index * LINE_HEIGHT
    return `<text x="${PADDING}" y="${y}">${spans(line)}</text>`
  })
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`,
    `<title>${escapeXml(title)}</title>`,
    '<rect width="100%" height="100%" rx="8" fill="#0d1117"/>',
    `<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="${FONT_SIZE}" fill="#e6edf3" xml:space="preserve">`,
    ...rows,
    '</g>',
    '</svg>',
    '',
  ].join('\n')
}

function spans(line: string): string {
  let style = PLAIN
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the escape character is what is looked for
  const parts = line.split(/\u001b\[([\d;]*)m/)
  return parts
    .map((part, index) => {
      if (index % 2 === 0) return part === '' ? '' : `<tspan${attributes(style)}>${escapeXml(part)}</tspan>`
      style = part.split(';').map(Number).reduce(applyCode, style)
      return ''
    })
    .join('')
}

function applyCode(style: Style, code: number): Style {
  if (code === 0) return PLAIN
  if (code === 1) return { ...style, bold: true }
  if (code === 2) return { ...style, dim: true }
  if (code === 22) return { ...style, bold: false, dim: false }
  if (code === 39) return { ...style, colour: null }
  return { ...style, colour: COLOURS[code] ?? style.colour }
}

function attributes({ colour, bold, dim }: Style): string {
  const fill = colour === null ? '' : ` fill="${colour}"`
  return `${fill}${bold ? ' font-weight="bold"' : ''}${dim ? ' opacity="0.6"' : ''}`
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
