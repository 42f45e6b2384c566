import { crc32 } from 'node:zlib'
import { ID } from '../../../probe/matroska/ids.js'
import { type BytePiece, newBytes } from '../../byte-plan.js'
import type { Element } from '../read/element.js'
import { makeHead } from '../read/make-ebml.js'

/** New bytes for elements that were read into memory. */
export class Rewrite {
  /** An empty buffer leaves the element out. */
  readonly #replaced = new Map<Element, Buffer>()
  /** At the end of masters. */
  readonly #added = new Map<Element, Buffer>()

  replace(element: Element, bytes: Buffer): void {
    if (bytes !== element.bytes) this.#replaced.set(element, bytes)
  }

  keep(element: Element): void {
    this.#replaced.delete(element)
  }

  add(parent: Element, bytes: Buffer): void {
    if (bytes.length > 0) this.#added.set(parent, Buffer.concat([this.#added.get(parent) ?? Buffer.alloc(0), bytes]))
  }

  lengthOf(element: Element): number {
    const made = this.#replaced.get(element)
    if (made) return made.length
    if (!this.#isChanged(element)) return element.bytes.length
    const length = this.#bodyLength(element)
    return makeHead(element.id, length, element.sizeWidth).length + length
  }

  /** The pieces of an element: new bytes, and ranges of the input for its children that stay. */
  *pieces(element: Element): Generator<BytePiece> {
    for (const part of this.#parts(element)) {
      if (part instanceof Uint8Array) yield newBytes(part)
      else yield { kind: 'input', start: part.start, length: part.bytes.length }
    }
  }

  /** New bytes, and elements that stay, in their order. */
  *#parts(element: Element): Generator<Buffer | Element> {
    const made = this.#replaced.get(element)
    if (made || !this.#isChanged(element)) {
      yield made ?? element
      return
    }
    yield makeHead(element.id, this.#bodyLength(element), element.sizeWidth)
    for (const [place, child] of element.children.entries()) {
      if (place === 0 && child.id === ID.Crc32 && child.body.length === 4) yield this.#checksum(child, element)
      else yield* this.#parts(child)
    }
    yield this.#added.get(element) ?? Buffer.alloc(0)
  }

  #isChanged(element: Element): boolean {
    return (
      this.#replaced.has(element) ||
      this.#added.has(element) ||
      element.children.some((child) => this.#isChanged(child))
    )
  }

  #bodyLength(element: Element): number {
    const added = this.#added.get(element)?.length ?? 0
    return element.children.reduce((sum, child) => sum + this.lengthOf(child), added)
  }

  /** A checksum element of the same form, over everything behind it. */
  #checksum(old: Element, parent: Element): Buffer {
    const made = Buffer.from(old.bytes)
    const rest = parent.children.slice(1).flatMap((child) => [...this.#parts(child)])
    const bytes = rest.map((part) => (part instanceof Uint8Array ? part : part.bytes))
    made.writeUInt32LE(crc32(Buffer.concat([...bytes, this.#added.get(parent) ?? Buffer.alloc(0)])), made.length - 4)
    return made
  }
}
