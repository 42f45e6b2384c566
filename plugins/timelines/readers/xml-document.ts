import { XMLParser, XMLValidator } from 'fast-xml-parser'
import type { TextEdit } from '../text-edits.js'
import { TimelineSyntaxError } from '../timeline-error.js'

/** An element with its place in the text, so that single values can be replaced and every other byte kept. */
export interface XmlElement {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  /** Elements in it, in order. */
  readonly children: readonly XmlElement[]
  /** The text directly in it, without white space around it. */
  readonly text: string
  /** In characters of the document: of the whole element. */
  readonly start: number
  readonly end: number
}

/** More elements in one another than any timeline has. */
const MAX_NESTED_TAGS = 400
const METADATA = XMLParser.getMetaDataSymbol() as unknown as symbol
const ATTRIBUTES = ':@'
const TEXT = '#text'
const CDATA = '#cdata'

/** A node as the parser returns it: its name with its children, its attributes under `:@`. */
type RawNode = { readonly [name: string]: unknown } & { readonly [METADATA]?: Span }
interface Span {
  readonly startIndex?: number
  readonly endIndex?: number
}

/**
 * Reads an XML document. Entities are not read: a document type may stand there, one that declares entities may not.
 *
 * @returns its root
 * @throws {TimelineSyntaxError}
 */
export function parseXml(text: string): XmlElement {
  if (/<!ENTITY/i.test(text)) throw new TimelineSyntaxError('it declares entities, which are not read')
  const validity = XMLValidator.validate(text.replace(/^\uFEFF/, ''), { allowBooleanAttributes: false })
  if (validity !== true) throw new TimelineSyntaxError(`it is not well-formed XML (line ${validity.err.line})`)
  const [root] = elementsOf(rawNodes(text), text.startsWith('\uFEFF') ? 1 : 0)
  if (!root) throw new TimelineSyntaxError('it is empty')
  return root
}

function rawNodes(text: string): readonly RawNode[] {
  const parser = new XMLParser({
    preserveOrder: true,
    captureMetaData: true,
    processEntities: false,
    ignoreAttributes: false,
    attributeNamePrefix: '',
    parseTagValue: false,
    parseAttributeValue: false,
    trimValues: false,
    ignoreDeclaration: true,
    ignorePiTags: true,
    cdataPropName: CDATA,
    maxNestedTags: MAX_NESTED_TAGS,
  })
  try {
    return parser.parse(text.replace(/^\uFEFF/, '')) as readonly RawNode[]
  } catch (cause) {
    throw new TimelineSyntaxError('it is not readable XML', { cause })
  }
}

function elementsOf(nodes: readonly RawNode[], shift: number): readonly XmlElement[] {
  return nodes.flatMap((node) => {
    const name = Object.keys(node).find((key) => key !== ATTRIBUTES && key !== TEXT && key !== CDATA)
    const { startIndex, endIndex } = node[METADATA] ?? {}
    if (name === undefined || startIndex === undefined || endIndex === undefined) return []
    const inner = node[name] as readonly RawNode[]
    const attributes = Object.entries((node[ATTRIBUTES] ?? {}) as Record<string, string>)
    return [
      {
        name,
        attributes: Object.fromEntries(attributes.map(([key, value]) => [key, unescapeXml(value)])),
        children: elementsOf(inner, shift),
        text: textOf(inner).trim(),
        start: startIndex + shift,
        end: endIndex + shift,
      },
    ]
  })
}

function textOf(nodes: readonly RawNode[]): string {
  return nodes
    .map((node) => {
      if (typeof node[TEXT] === 'string') return unescapeXml(node[TEXT])
      // Text in a CDATA section has no entities to decode.
      return CDATA in node ? String((node[CDATA] as readonly RawNode[])[0]?.[TEXT] ?? '') : ''
    })
    .join('')
}

/** The first child of a name. */
export function child(element: XmlElement | undefined, name: string): XmlElement | undefined {
  return element?.children.find((one) => one.name === name)
}

/** All children of a name. */
export function childElements(element: XmlElement | undefined, name: string): readonly XmlElement[] {
  return element?.children.filter((one) => one.name === name) ?? []
}

/** The element and all below it, in the document's order. */
export function* descendants(element: XmlElement): Generator<XmlElement> {
  yield element
  for (const one of element.children) yield* descendants(one)
}

/** The edit that gives an attribute another value; undefined if the element has no such attribute. */
export function attributeEdit(
  document: string,
  element: XmlElement,
  name: string,
  value: string,
): TextEdit | undefined {
  for (const { key, valueStart, valueEnd } of attributePlaces(document, element))
    if (key === name) return { start: valueStart, end: valueEnd, text: escapeXml(value) }
  return undefined
}

/** The edit that takes an attribute out, with the space before it; undefined if there is none. */
export function attributeRemoval(document: string, element: XmlElement, name: string): TextEdit | undefined {
  for (const { key, start, valueEnd } of attributePlaces(document, element))
    if (key === name) return { start, end: valueEnd + 1, text: '' }
  return undefined
}

/** The edit that gives an element an attribute that it does not have. */
export function attributeInsertion(document: string, element: XmlElement, name: string, value: string): TextEdit {
  const at = element.start + (/^<[^\s/>]+/.exec(startTag(document, element))?.[0].length ?? 0)
  return { start: at, end: at, text: ` ${name}="${escapeXml(value)}"` }
}

/** The edit that gives an element of text alone another text. */
export function textEdit(document: string, element: XmlElement, value: string): TextEdit {
  const tag = startTag(document, element)
  const text = escapeXml(value)
  if (tag.endsWith('/>')) {
    return { start: element.start, end: element.end, text: `${tag.slice(0, -2).trimEnd()}>${text}</${element.name}>` }
  }
  return { start: element.start + tag.length, end: document.lastIndexOf('</', element.end - 1), text }
}

/** The edit that takes an element out, with the white space before it. */
export function removal(document: string, element: XmlElement): TextEdit {
  const before = /\s*$/.exec(document.slice(Math.max(0, element.start - 200), element.start))?.[0] ?? ''
  return { start: element.start - before.length, end: element.end, text: '' }
}

const START_TAG = /<[^\s/>]+(?:\s+[^\s=/>]+\s*=\s*(?:"[^"]*"|'[^']*'))*\s*\/?>/y

function startTag(document: string, { start }: XmlElement): string {
  START_TAG.lastIndex = start
  return START_TAG.exec(document)?.[0] ?? ''
}

function* attributePlaces(document: string, element: XmlElement) {
  const attribute = /\s+([^\s=/>]+)\s*=\s*("[^"]*"|'[^']*')/g
  const whole = startTag(document, element)
  const tag = whole.slice(0, whole.endsWith('/>') ? -2 : -1).trimEnd()
  for (const match of tag.matchAll(attribute)) {
    const [all, key = '', quoted = ''] = match
    const start = element.start + match.index
    const valueEnd = start + all.length - 1
    yield { key, start, valueStart: valueEnd - quoted.length + 2, valueEnd }
  }
}

const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

/** The five entities that XML itself has, and characters by number; anything else stays as it stands. */
function unescapeXml(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(amp|lt|gt|quot|apos));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return NAMED[String(name).toLowerCase()] ?? whole
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal)
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole
  })
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
