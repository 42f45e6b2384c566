/** A growing column of numbers. A film has hundreds of thousands of packets, and objects would take ten times the memory. */
export class Column<T extends Float64Array | Uint32Array> {
  #values: T
  #count = 0
  readonly #make: (length: number) => T

  private constructor(make: (length: number) => T) {
    this.#make = make
    this.#values = make(256)
  }

  /** For offsets and times. */
  static floats(): Column<Float64Array> {
    return new Column((length) => new Float64Array(length))
  }

  /** For lengths and places below 2^32. */
  static integers(): Column<Uint32Array> {
    return new Column((length) => new Uint32Array(length))
  }

  get count(): number {
    return this.#count
  }

  push(value: number): void {
    if (this.#count === this.#values.length) {
      const grown = this.#make(2 * this.#values.length)
      grown.set(this.#values)
      this.#values = grown
    }
    this.#values[this.#count++] = value
  }

  /** Removes the last values, so that no more than some are left. */
  shorten(most: number): void {
    this.#count = Math.min(this.#count, most)
  }

  /** The value at a place below `count`. */
  get(place: number): number {
    return this.#values[place] as number
  }

  /** All values so far, without a copy. Later values are not among them. */
  values(): T {
    return this.#values.subarray(0, this.#count) as T
  }
}

/** Columns with their rows in order. Those of most files are in order already, and are returned as they are. */
export function sortedColumns<Columns extends readonly Float64Array[]>(
  columns: Columns,
  compare: (row: number, other: number) => number,
): Columns {
  const rows = columns[0]?.length ?? 0
  let row = 1
  while (row < rows && compare(row - 1, row) <= 0) row++
  if (row >= rows) return columns
  const order = Uint32Array.from({ length: rows }, (_, place) => place).sort(compare)
  return columns.map((column) => Float64Array.from(order, (place) => column[place] as number)) as unknown as Columns
}
