import { NoteTaker } from './note-taker.js'
import { percent, type Rational } from './time/rational.js'
import type { TimeRange } from './time/time-range.js'
import type { ClipUse, Timeline, TimelineNote, TimelineSource } from './timeline.js'

/** The usual reasons to leave a clip. */
const REASONS: Readonly<Partial<Record<TimelineNote['kind'], string>>> = {
  disabled: 'is disabled',
  generator: 'is generated, not recorded',
  'missing-reference': 'has no reference to a media file',
}

/** The finds of a reader that walks a timeline: the clips that are heard, their media, and notes. */
export class FoundClips extends NoteTaker {
  readonly uses: ClipUse[] = []
  readonly #sources = new Map<string, TimelineSource>()

  /** The timeline with all finds. */
  timeline(relink: Timeline['relink']): Timeline {
    return { sources: [...this.#sources.values()], uses: this.uses, notes: this.notes, relink }
  }

  /** Adds the ranges of a source that a clip plays, on the source's clock. The last source of an id stays. */
  use(source: TimelineSource, clip: string, ranges: readonly TimeRange[], dropFrame?: boolean): void {
    this.#sources.set(source.id, source)
    this.uses.push(...ranges.map((range) => ({ sourceId: source.id, clip, range, dropFrame })))
  }

  /** Notes that a clip is left as it is. */
  left(kind: TimelineNote['kind'], clip: string, why = REASONS[kind] ?? ''): void {
    this.add(kind, clip, `${why}: left as it is`)
  }

  /** Notes that a clip does not play at its own speed. @param how the speed as a factor, or in words */
  speed(clip: string, how: Rational | string, taken = 'the range it can cover'): void {
    const words = typeof how === 'string' ? how : `at ${percent(how)} %`
    this.add('speed', clip, `plays ${words}: ${taken} is taken`)
  }
}
