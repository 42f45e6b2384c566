import { NoteTaker } from './note-taker.js'
import type { TimeRange } from './time/time-range.js'
import type { ClipUse, Timeline, TimelineNote, TimelineSource } from './timeline.js'

/** The finds of a reader that walks a timeline: the clips that are heard, their media, and notes. */
export class FoundClips {
  readonly uses: ClipUse[] = []
  readonly #sources = new Map<string, TimelineSource>()
  readonly #notes = new NoteTaker()

  /** The timeline with all finds. */
  timeline(name: string | null, relink: Timeline['relink']): Timeline {
    return { name, sources: [...this.#sources.values()], uses: this.uses, notes: this.#notes.notes, relink }
  }

  /** Adds the ranges of a source that a clip plays, on the source's clock. The last source of an id stays. */
  use(source: TimelineSource, clip: string, ranges: readonly TimeRange[], dropFrame?: boolean): void {
    this.#sources.set(source.id, source)
    this.uses.push(...ranges.map((range) => ({ sourceId: source.id, clip, range, dropFrame })))
  }

  /** Adds a note, once a subject. */
  note(kind: TimelineNote['kind'], subject: string, message: string): void {
    this.#notes.add(kind, subject, message)
  }
}
