/** Values of a block, a power of two. Blocks neither move nor have room that is never used. */
const BLOCK_VALUES = 1 << 15

/** A growing column of numbers. A film has hundreds of thousands of packets, and objects would take ten times the memory. */
export class Column<T extends Float64Array | Uint32Array> {
  readonly #full: T[] = []
  /** Grows to the size of a block if it is the first. */
  #last: T
  #filled = 0
  readonly #make: (length: number) => T

  private constructor(make: (length: number) => T) {
    this.#make = make
    this.#last = make(256)
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
    return this.#full.length * BLOCK_VALUES + this.#filled
  }

  push(value: number): void {
    if (this.#filled === this.#last.length) this.#grow()
    this.#last[this.#filled++] = value
  }

  /** Removes the last values, so that no more than some are left. */
  shorten(most: number): void {
    while (most < this.#full.length * BLOCK_VALUES) {
      this.#last = this.#full.pop() as T
      this.#filled = BLOCK_VALUES
    }
    this.#filled = Math.min(this.#filled, most - this.#full.length * BLOCK_VALUES)
  }

  /** The value at a place below `count`. */
  get(place: number): number {
    const block = this.#full[(place / BLOCK_VALUES) | 0] ?? this.#last
    return block[place % BLOCK_VALUES] as number
  }

  /** All values so far. Later values are not among them. */
  values(): T {
    const last = this.#last.subarray(0, this.#filled) as T
    if (this.#full.length === 0) return last
    const all = this.#make(this.count)
    for (const [place, block] of [...this.#full, last].entries()) all.set(block, place * BLOCK_VALUES)
    return all
  }

  #grow(): void {
    if (this.#filled === BLOCK_VALUES) {
      this.#full.push(this.#last)
      this.#last = this.#make(BLOCK_VALUES)
      this.#filled = 0
      return
    }
    const grown = this.#make(2 * this.#filled)
    grown.set(this.#last)
    this.#last = grown
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
