import { MalformedFile } from '../../../probe/malformed-file.js'
import { type Head, readFloat, readHead, readUint } from '../../../probe/matroska/ebml.js'
import { ID, MASTERS } from '../../../probe/matroska/ids.js'
import type { FileWindow } from '../../file-window.js'
import { makeHead } from './make-ebml.js'

/** The head of the element at an offset that was brought; undefined if no element begins there. */
export function headIn(window: FileWindow, at: number): Head | undefined {
  return readHead(window.window, window.placeOf(at))
}

/** An element that was read into memory. */
export interface Element {
  readonly id: number
  /** First byte in the file. */
  readonly start: number
  /** Bytes of the size in its head. */
  readonly sizeWidth: number
  /** Head and body. */
  readonly bytes: Buffer
  readonly body: Buffer
  /** Empty for an element that is not a master, and for masters whose children voxmux does not read. */
  readonly children: readonly Element[]
}

const NO_ELEMENTS: readonly Element[] = []

/** An element in the bytes that were read. A file may have a million, so each keeps numbers and no buffers. */
class ReadElement implements Element {
  readonly id: number
  readonly children: readonly Element[]
  readonly sizeWidth: number
  readonly #source: Source
  readonly #at: number
  readonly #headBytes: number
  readonly #length: number

  constructor(source: Source, at: number, { id, headBytes, length, sizeWidth }: Head, children: readonly Element[]) {
    this.id = id
    this.children = children
    this.sizeWidth = sizeWidth
    this.#source = source
    this.#at = at
    this.#headBytes = headBytes
    this.#length = length ?? 0
  }

  get start(): number {
    return this.#source.start + this.#at
  }

  get bytes(): Buffer {
    return this.#source.bytes.subarray(this.#at, this.#at + this.#headBytes + this.#length)
  }

  get body(): Buffer {
    const bodyAt = this.#at + this.#headBytes
    return this.#source.bytes.subarray(bodyAt, bodyAt + this.#length)
  }
}

/** Tags may hold tags without end; no program writes more than a few levels. */
const DEEPEST = 32

/** An element takes some hundred bytes of memory and two of a file. 40 hours of film have as many in their cues. */
const MOST_ELEMENTS = 1_000_000

/** Counts elements, so that a file that consists of empty ones does not fill the memory. */
export class ElementCount {
  #left = MOST_ELEMENTS

  /** @throws MalformedFile if there are too many */
  take(at: number): void {
    this.#left -= 1
    if (this.#left < 0) throw new MalformedFile(`it has more than ${MOST_ELEMENTS} elements up to byte ${at}`)
  }
}

/** Parses elements in memory. @param start of `bytes` in the file @throws MalformedFile */
export function parseElements(bytes: Buffer, start: number, count: ElementCount): readonly Element[] {
  return elementsBetween({ bytes, start, count }, 0, bytes.length, 0)
}

interface Source {
  readonly bytes: Buffer
  /** Place of the bytes in the file. */
  readonly start: number
  readonly count: ElementCount
}

function elementsBetween(source: Source, from: number, to: number, depth: number): readonly Element[] {
  const { bytes, start, count } = source
  if (depth > DEEPEST) throw new MalformedFile(`elements are nested too deeply at byte ${start + from}`)
  if (from === to) return NO_ELEMENTS
  const elements: Element[] = []
  for (let at = from; at < to; ) {
    const head = readHead(bytes, at)
    if (!head || head.length === null || at + head.headBytes + head.length > to) {
      throw new MalformedFile(`no element fits at byte ${start + at}`)
    }
    count.take(start + at)
    const bodyAt = at + head.headBytes
    const end = bodyAt + head.length
    const children = MASTERS.has(head.id) ? elementsBetween(source, bodyAt, end, depth + 1) : NO_ELEMENTS
    elements.push(new ReadElement(source, at, head, children))
    at = end
  }
  return elements
}

/** The first child with an id. */
export function childOf(element: Element | undefined, id: number): Element | undefined {
  return element?.children.find((child) => child.id === id)
}

/** All children with an id. */
export function childrenOf(element: Element | undefined, id: number): readonly Element[] {
  return element?.children.filter((child) => child.id === id) ?? []
}

/** The unsigned integer in a child; undefined without one. */
export function uintIn(element: Element | undefined, id: number): number | undefined {
  const child = childOf(element, id)
  return child && readUint(child.body)
}

/** The float in a child; undefined without one. */
export function floatIn(element: Element | undefined, id: number): number | undefined {
  const child = childOf(element, id)
  return child && readFloat(child.body)
}

/** The text in a child, up to its first zero byte; empty without one. */
export function textIn(element: Element | undefined, id: number): string {
  return childOf(element, id)?.body.toString('utf8').replace(/\0.*$/s, '') ?? ''
}

/** Empty space of the size of an element. */
export function voidLike({ bytes }: Element): Buffer {
  // One byte for the id, then a size that is as wide as it must be for the rest to come out.
  const width = bytes.length - 2 < 127 ? 1 : Math.min(8, bytes.length - 1)
  return Buffer.concat([makeHead(ID.Void, bytes.length - 1 - width, width), Buffer.alloc(bytes.length - 1 - width)])
}
