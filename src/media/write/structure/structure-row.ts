import { Column } from '../column.js'
import type { Structure } from './structure.js'

/**
 * Structures that follow each other from the start of a file without a gap. A film in MXF has millions: each takes 12
 * bytes here. Neighbours of the same name become one.
 */
export class StructureRow implements Iterable<Structure> {
  readonly #starts = Column.floats()
  readonly #names = Column.integers()
  readonly #paths: string[] = []
  readonly #places = new Map<string, number>()
  #lastName = -1
  #end = 0

  /** Appends a structure behind the last one. */
  push(path: string, length: number): void {
    const name = this.#nameOf(path)
    if (name !== this.#lastName) {
      this.#starts.push(this.#end)
      this.#names.push(name)
      this.#lastName = name
    }
    this.#end += length
  }

  get count(): number {
    return this.#starts.count
  }

  *[Symbol.iterator](): Generator<Structure> {
    const { count } = this
    for (let place = 0; place < count; place++) {
      const start = this.#starts.get(place)
      const end = place + 1 < count ? this.#starts.get(place + 1) : this.#end
      yield { path: this.#paths[this.#names.get(place)] as string, start, length: end - start }
    }
  }

  #nameOf(path: string): number {
    const known = this.#places.get(path)
    if (known !== undefined) return known
    const place = this.#paths.push(path) - 1
    this.#places.set(path, place)
    return place
  }
}
