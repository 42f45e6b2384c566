import { TimelineSyntaxError } from '../timeline-error.js'

/**
 * JSON with the place of every value in the text, so that single values can be replaced and every other byte kept.
 * That keeps the spelling of numbers, integers beyond 2^53, and OTIO's own `NaN` and `Infinity`.
 */
export type JsonNode = JsonObject | JsonArray | JsonScalar

interface JsonSpan {
  /** In characters of the text, the value alone. */
  readonly start: number
  readonly end: number
}
export interface JsonObject extends JsonSpan {
  readonly kind: 'object'
  readonly members: ReadonlyMap<string, JsonMember>
}
interface JsonArray extends JsonSpan {
  readonly kind: 'array'
  readonly items: readonly JsonNode[]
}
interface JsonScalar extends JsonSpan {
  readonly kind: 'string' | 'number' | 'literal'
  /** A string's value; of the others what stands in the text. */
  readonly text: string
}
interface JsonMember {
  /** Place of the key, quotes included. */
  readonly keyStart: number
  readonly keyEnd: number
  readonly value: JsonNode
}

/** Deeper than any timeline, and well within the stack. */
const MAX_DEPTH = 400
const SPACE = /[ \t\r\n]*/y
const STRING = /"[^"\\]*(?:\\.[^"\\]*)*"/y
const SCALAR = /-?(?:Infinity|NaN|Inf|nan|inf)|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y

/** Reads a JSON text. @throws {TimelineSyntaxError} with the place where it is none */
export function parseJsonTree(text: string): JsonNode {
  const reader = new JsonReader(text)
  const root = reader.value(0)
  reader.end()
  return root
}

class JsonReader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
    // A byte order mark, as some exporters write one.
    if (text.charCodeAt(0) === 0xfeff) this.#at = 1
  }

  value(depth: number): JsonNode {
    if (depth > MAX_DEPTH) throw new TimelineSyntaxError('it is nested too deeply')
    this.#match(SPACE)
    const start = this.#at
    switch (this.#text[start]) {
      case '{':
        return { kind: 'object', members: this.#members(depth), start, end: this.#at }
      case '[':
        return { kind: 'array', items: this.#items(depth), start, end: this.#at }
      case '"':
        return { kind: 'string', text: this.#string(), start, end: this.#at }
      default: {
        const text = this.#match(SCALAR) ?? this.#fail()
        return { kind: /^-?[\dIN]/i.test(text) && text !== 'null' ? 'number' : 'literal', text, start, end: this.#at }
      }
    }
  }

  end(): void {
    this.#match(SPACE)
    if (this.#at < this.#text.length) this.#fail()
  }

  #members(depth: number): ReadonlyMap<string, JsonMember> {
    const members = new Map<string, JsonMember>()
    this.#at++
    while (!this.#closes('}', members.size > 0)) {
      this.#match(SPACE)
      const keyStart = this.#at
      const key = this.#string()
      const keyEnd = this.#at
      this.#match(SPACE)
      this.#take(':')
      members.set(key, { keyStart, keyEnd, value: this.value(depth + 1) })
    }
    return members
  }

  #items(depth: number): readonly JsonNode[] {
    const items: JsonNode[] = []
    this.#at++
    while (!this.#closes(']', items.length > 0)) items.push(this.value(depth + 1))
    return items
  }

  /** Takes the closing bracket, or else the comma before the next one. */
  #closes(bracket: string, needsComma: boolean): boolean {
    this.#match(SPACE)
    if (this.#text[this.#at] === bracket) {
      this.#at++
      return true
    }
    if (needsComma) this.#take(',')
    return false
  }

  #string(): string {
    const raw = this.#match(STRING) ?? this.#fail()
    try {
      return JSON.parse(raw) as string
    } catch {
      return this.#fail()
    }
  }

  #take(character: string): void {
    if (this.#text[this.#at] !== character) this.#fail()
    this.#at++
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)?.[0]
    if (found !== undefined) this.#at += found.length
    return found
  }

  #fail(): never {
    const line = this.#text.slice(0, this.#at).split('\n').length
    throw new TimelineSyntaxError(`it is not valid JSON (line ${line})`)
  }
}

/** A member's value, if the node is an object that has it. */
export function member(node: JsonNode | undefined, key: string): JsonNode | undefined {
  return node?.kind === 'object' ? node.members.get(key)?.value : undefined
}

/** A string's value; undefined for anything else. */
export function stringOf(node: JsonNode | undefined): string | undefined {
  return node?.kind === 'string' ? node.text : undefined
}

/** An array's items; none for anything else. */
export function itemsOf(node: JsonNode | undefined): readonly JsonNode[] {
  return node?.kind === 'array' ? node.items : []
}
