import type { SampleChunk } from '../../../probe/movie/sample-table.js'
import { Column } from '../../column.js'
import { firstAtLeast } from '../../first-at-least.js'
import type { TrackFragment } from './fragments.js'

/** A run of old packets that new packets replace. Offsets in the file, times in ticks of the track. */
type OldRun = Pick<SampleChunk, 'start' | 'bytes' | 'startTick' | 'ticks'>

/**
 * The runs of a track that have packets, in file order of the tables: first those of the index in `moov`, then those of
 * fragments. Columns, because a film has hundreds of thousands.
 */
export class OldRuns {
  readonly #start = Column.floats()
  readonly #bytes = Column.floats()
  readonly #startTick = Column.floats()
  readonly #ticks = Column.floats()
  /** First byte of the `moof` of each run that a fragment lists. */
  readonly #moofStart = Column.floats()

  get count(): number {
    return this.#start.count
  }

  /** How many runs the index in `moov` lists. */
  get inIndex(): number {
    return this.count - this.inFragments
  }

  /** How many runs fragments list. */
  get inFragments(): number {
    return this.#moofStart.count
  }

  /** Adds a run. An empty one has no place for packets and is left out. */
  push({ start, bytes, startTick, ticks }: OldRun): void {
    if (bytes === 0) return
    this.#start.push(start)
    this.#bytes.push(bytes)
    this.#startTick.push(startTick)
    this.#ticks.push(ticks)
  }

  /** Adds the runs of a fragment, after those of the index. */
  pushFragment({ moof, runs }: TrackFragment): void {
    for (const run of runs) {
      if (run.bytes > 0) this.#moofStart.push(moof.start)
      this.push(run)
    }
  }

  start = (place: number): number => this.#start.get(place)
  end = (place: number): number => this.#start.get(place) + this.#bytes.get(place)
  startTick = (place: number): number => this.#startTick.get(place)

  /** Decoding time of the first packet; 0 if there is none. */
  get firstTick(): number {
    return this.count === 0 ? 0 : this.startTick(0)
  }

  /** Decoding time at which the last run ends; 0 if there is none. */
  get endTick(): number {
    const last = this.count - 1
    return last < 0 ? 0 : this.#startTick.get(last) + this.#ticks.get(last)
  }

  /** First byte of the `moof` that lists a run; undefined for a run of the index and past the last run. */
  moofStart(place: number): number | undefined {
    const row = place - this.inIndex
    return row >= 0 && row < this.inFragments ? this.#moofStart.get(row) : undefined
  }

  /** Place of the first run with packets that a fragment lists. */
  firstIn({ runsBefore }: TrackFragment): number {
    return this.inIndex + runsBefore
  }

  /** Place of the first run whose `moof` begins at an offset or later; `count` if there is none. */
  firstFrom(moofStart: number): number {
    return this.inIndex + firstAtLeast(this.inFragments, (row) => this.#moofStart.get(row), moofStart)
  }
}
