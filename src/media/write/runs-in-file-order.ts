/** Runs of packets of a track. Offsets in the file. */
interface Runs {
  readonly count: number
  readonly start: (place: number) => number
  readonly end: (place: number) => number
}

/** The runs of some tracks in the order of their bytes in the file. */
export class RunsInFileOrder {
  readonly #tracks: readonly Runs[]
  /** Place of the first run of each track, if the runs of all tracks stand in one list. */
  readonly #firsts: readonly number[]
  /** Places in that list. */
  readonly #order: Uint32Array

  constructor(tracks: readonly Runs[]) {
    let count = 0
    this.#tracks = tracks
    this.#firsts = tracks.map((runs) => {
      count += runs.count
      return count - runs.count
    })
    const starts = new Float64Array(count)
    for (const [track, runs] of tracks.entries())
      for (let place = 0; place < runs.count; place++)
        starts[(this.#firsts[track] as number) + place] = runs.start(place)
    this.#order = Uint32Array.from(starts, (_, listed) => listed)
    this.#order.sort((one, other) => (starts[one] as number) - (starts[other] as number))
  }

  get count(): number {
    return this.#order.length
  }

  /** The track of a run, by place among the given ones, and its place there. */
  at(row: number): { readonly runs: Runs; readonly track: number; readonly place: number } {
    const listed = this.#order[row] as number
    const track = this.#firsts.findLastIndex((first) => first <= listed)
    return { runs: this.#tracks[track] as Runs, track, place: listed - (this.#firsts[track] as number) }
  }

  start = (row: number): number => {
    const { runs, place } = this.at(row)
    return runs.start(place)
  }

  end = (row: number): number => {
    const { runs, place } = this.at(row)
    return runs.end(place)
  }
}
