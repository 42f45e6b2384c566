import ts from 'typescript'

/** A sentence that a person reads, and its place. */
export interface Sentence {
  readonly path: string
  /** 1-based line on which the passage begins. */
  readonly line: number
  readonly kind: 'doc' | 'message' | 'comment'
  readonly text: string
}

interface Passage {
  readonly line: number
  readonly text: string
}

const SEGMENTER = new Intl.Segmenter('en', { granularity: 'sentence' })
/** Stands for a piece of code: one word. */
const CODE = 'x'
/** Fewest words that make a string literal a sentence for people. */
const MESSAGE_WORDS = 4
const MACHINE_TEXT = /^\s*(SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|PRAGMA|WITH|BEGIN|DROP|local |if |return |<)/
/** Lua, a shell script, a style sheet or the script of a page, in a template. */
const CODE_TEXT = /\bcall\('|\bfind\(\)|\bcompgen\b|querySelector|addEventListener|color-scheme:/

/** The sentences of a Markdown page, without code, and with table cells and list items apart. */
export function sentencesOfPage(path: string, page: string): readonly Sentence[] {
  return split(path, 'doc', passagesOfPage(page))
}

/** The sentences in the comments and the messages of a source file. */
export function sentencesOfSource(path: string, text: string): readonly Sentence[] {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  return [...split(path, 'comment', comments(source)), ...split(path, 'message', messages(source))]
}

function passagesOfPage(page: string): readonly Passage[] {
  const passages: { line: number; text: string }[] = []
  let isCode = false
  let open: { line: number; text: string } | null = null
  for (const [index, raw] of page.split('\n').entries()) {
    if (/^\s*(```|~~~)/.test(raw)) isCode = !isCode
    const line = isCode || /^\s*(```|~~~|<)/.test(raw) ? '' : raw
    const isApart = /^\s*([-*>|#]|\d+\.)/.test(line)
    if (line.trim() === '' || isApart) open = null
    if (line.trim() === '' || /^\s*#/.test(line)) continue
    for (const cell of /^\s*\|/.test(line) ? line.split(/\||<br>/) : [line.replace(/^\s*([-*>]|\d+\.)\s+/, '')]) {
      if (open && !isApart) open.text += ` ${cell.trim()}`
      else {
        open = { line: index + 1, text: cell.trim() }
        passages.push(open)
      }
    }
  }
  return passages
}

function comments(source: ts.SourceFile): readonly Passage[] {
  const found: { line: number; text: string; lineCommentEnd: number | null }[] = []
  const starts = new Set<number>()
  const visit = (node: ts.Node): void => {
    for (const range of ts.getLeadingCommentRanges(source.text, node.getFullStart()) ?? []) {
      if (starts.has(range.pos)) continue
      starts.add(range.pos)
      const line = source.getLineAndCharacterOfPosition(range.pos).line + 1
      const text = source.text.slice(range.pos, range.end)
      const last = found.at(-1)
      const isLine = text.startsWith('//')
      // Line comments below each other are one passage.
      if (
        isLine &&
        last &&
        last.lineCommentEnd !== null &&
        isBlank(source.text.slice(last.lineCommentEnd, range.pos))
      ) {
        last.text += ` ${bare(text)}`
        last.lineCommentEnd = range.end
      } else found.push({ line, text: bare(text), lineCommentEnd: isLine ? range.end : null })
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

function isBlank(text: string): boolean {
  return text.trim() === ''
}

/** A comment's text: without its marks, and with each tag and list item a passage of its own. */
function bare(comment: string): string {
  return comment
    .replace(/^\/\*\*?|\*\/$/g, '')
    .replace(/^\/\/+ ?/, '')
    .replace(/^\s*\* ?/gm, '')
    .replace(/^\s*(@(param|returns?|throws|see|example)\b(\s+\{[^}]*\})?(\s+\w+)?|[-*] |\d+\. )/gm, '\n\n')
}

function messages(source: ts.SourceFile): readonly Passage[] {
  const found: Passage[] = []
  const visit = (node: ts.Node): void => {
    const text = literalText(node)
    if (text !== null && text.split(/\s+/).filter((word) => /\p{L}{2}/u.test(word)).length >= MESSAGE_WORDS)
      if (!MACHINE_TEXT.test(text) && !CODE_TEXT.test(text))
        // Each indented line is a passage: a command with its explanation.
        found.push({
          line: source.getLineAndCharacterOfPosition(node.getStart()).line + 1,
          text: text.replace(/\n(?= {2})/g, '\n\n'),
        })
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

function literalText(node: ts.Node): string | null {
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) return node.text
  if (!ts.isTemplateExpression(node)) return null
  return node.head.text + node.templateSpans.map(({ literal }) => CODE + literal.text).join('')
}

function split(path: string, kind: Sentence['kind'], passages: readonly Passage[]): readonly Sentence[] {
  return passages.flatMap(({ line, text }) =>
    text
      .split(/\n\s*\n/)
      .flatMap((part) => [...SEGMENTER.segment(plain(part))])
      .map(({ segment }) => ({ path, line, kind, text: segment.trim() }))
      .filter((sentence) => sentence.text !== ''),
  )
}

/** Text as it is read: code is one word, a link is its words. */
function plain(text: string): string {
  return text
    .replace(/`[^`]*`/g, CODE)
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/https?:\/\/\S+/g, CODE)
    .replace(/\*\*|__/g, '')
    .replace(/\s+/g, ' ')
    .trim()
}
