import { FoundClips } from '../found-clips.js'
import { nameOfPath } from '../media-path.js'
import { NestingGuard } from '../nesting-guard.js'
import { applyEdits, type TextEdit } from '../text-edits.js'
import {
  absolute,
  add,
  compare,
  FOREVER,
  larger,
  multiply,
  ONE,
  type Rational,
  subtract,
  ZERO,
} from '../time/rational.js'
import { hull, length, playedPart, type TimeRange, widened } from '../time/time-range.js'
import type { RelinkedMedia, Timeline } from '../timeline.js'
import { TimelineSyntaxError } from '../timeline-error.js'
import { below, decimalIn, isTrue, objectKey, PremiereObjects, ticksIn } from './prproj-objects.js'
import { child, childElements, parseXml, textEdit, type XmlElement } from './xml-document.js'

type Kind = 'Audio' | 'Video'

/**
 * Reads the XML of a Premiere Pro project: the clips of all sequences that no other sequence plays. Adobe publishes no
 * description of the format. The names are those that projects of Premiere Pro have.
 *
 * @throws {TimelineSyntaxError}
 */
export function readPremiere(text: string): Timeline {
  const root = parseXml(text)
  if (root.name !== 'PremiereData')
    throw new TimelineSyntaxError('it is not a Premiere project (its root is not PremiereData)')
  const objects = new PremiereObjects(root)
  const reading = new PremiereReading(objects)
  const tops = topSequences(objects)
  for (const sequence of tops) reading.sequence(sequence, null, 0, 'Audio')
  if (!reading.hasClips) for (const sequence of tops) reading.sequence(sequence, null, 0, 'Video')
  return reading.found.timeline((media) => relinkPremiere(text, objects, media))
}

/** The sequences that no clip on a track plays. */
function topSequences(objects: PremiereObjects): readonly XmlElement[] {
  const all = objects.all.filter(({ name }) => name === 'Sequence')
  const nested = new Set(
    objects.all
      .filter(({ name }) => /^(Audio|Video)ClipTrackItem$/.test(name))
      .map((item) => objects.named(below(sourceOf(objects, item), 'SequenceSource', 'Sequence'))),
  )
  const tops = all.filter((sequence) => !nested.has(sequence))
  return tops.length > 0 ? tops : all
}

/** The clip of an item on a track: its trims and its source. */
function clipOf(objects: PremiereObjects, item: XmlElement): XmlElement | undefined {
  const subclip = objects.named(below(item, 'ClipTrackItem', 'SubClip'))
  return child(objects.named(child(subclip, 'Clip')), 'Clip')
}

function sourceOf(objects: PremiereObjects, item: XmlElement): XmlElement | undefined {
  return objects.named(child(clipOf(objects, item), 'Source'))
}

/** Part of a sequence that is walked. */
interface Walk {
  /** On the clock of the sequence, null for all of it. */
  readonly window: TimeRange | null
  readonly depth: number
  readonly kind: Kind
}

class PremiereReading {
  readonly found = new FoundClips()
  hasClips = false
  readonly #objects: PremiereObjects
  readonly #guard = new NestingGuard()

  constructor(objects: PremiereObjects) {
    this.#objects = objects
  }

  sequence(sequence: XmlElement, window: TimeRange | null, depth: number, kind: Kind): void {
    this.#guard.enter(depth)
    for (const entry of childElements(child(sequence, 'TrackGroups'), 'TrackGroup')) {
      const group = this.#objects.named(child(entry, 'Second'))
      if (group?.name !== `${kind}TrackGroup`) continue
      for (const named of childElements(below(group, 'TrackGroup', 'Tracks'), 'Track')) {
        const track = child(this.#objects.named(named), 'ClipTrack')
        if (isTrue(child(track, 'Track'), 'IsMuted')) {
          const name = child(sequence, 'Name')?.text ?? 'a sequence'
          this.found.left('disabled', `A track of ${name}`, 'is muted')
        } else this.#track(track, { window, depth, kind })
      }
    }
  }

  #track(track: XmlElement | undefined, walk: Walk): void {
    // A track plays each of its items once, however often it names one.
    const itemsIn = (list: string) => {
      const named = childElements(below(track, list, 'TrackItems'), 'TrackItem')
      this.#guard.pass(named.length)
      return [...new Set(named.flatMap((one) => this.#objects.named(one) ?? []))]
    }
    const transitions = itemsIn('TransitionItems').flatMap((one) => placeOf(child(one, 'TransitionTrackItem')) ?? [])
    for (const item of itemsIn('ClipItems')) this.#item(item, transitions, walk)
  }

  #item(item: XmlElement, transitions: readonly TimeRange[], { window, depth, kind }: Walk): void {
    const placed = child(item, 'ClipTrackItem')
    const subclip = this.#objects.named(child(placed, 'SubClip'))
    const [clip, source] = [clipOf(this.#objects, item), sourceOf(this.#objects, item)]
    const name = child(subclip, 'Name')?.text ?? child(clip, 'Name')?.text ?? ''
    const at = placeOf(placed)
    if (!at) return
    this.hasClips = true
    if (isTrue(placed, 'IsMuted')) {
      this.found.left('disabled', name)
      return
    }
    const offset = ticksIn(placed, 'OriginalSubClipTimeOffset') ?? ZERO
    if (!clip || !source || offset.numerator !== 0n) {
      const why =
        offset.numerator === 0n ? 'has no source' : 'has an offset of its subclip, whose sense is not published'
      this.found.left('unread', name, why)
      return
    }
    const part = this.#played(name, clip, { at, ...handlesOf(at, transitions) }, window)
    if (!part) return
    const sequence = this.#objects.named(below(source, 'SequenceSource', 'Sequence'))
    if (sequence) this.sequence(sequence, part, depth + 1, kind)
    else this.#media(name, this.#mediaOf(source), part)
  }

  /** The part of its source that a clip plays. Transitions play `lead` and `tail` besides its own range. */
  #played(
    name: string,
    clip: XmlElement,
    { at, lead, tail }: { readonly at: TimeRange; readonly lead: Rational; readonly tail: Rational },
    window: TimeRange | null,
  ): TimeRange | undefined {
    const signed = decimalIn(clip, 'PlaybackSpeed') ?? ONE
    const speed = absolute(signed)
    const isRemapped = child(clip, 'TimeRemapping') !== undefined
    const isBackwards = isTrue(clip, 'PlayBackwards') || signed.numerator < 0n
    const start = ticksIn(clip, 'InPoint') ?? ZERO
    const shown = multiply(length(at), speed)
    const end = ticksIn(clip, 'OutPoint') ?? add(start, shown)
    const sourceStart = subtract(start, multiply(lead, speed))
    const placement = { at: widened(at, lead, tail), sourceStart, speed }
    const part = playedPart(placement, window)
    const isExact = compare(subtract(end, start), shown) === 0 && compare(speed, ONE) === 0
    if (!part || (isExact && !isRemapped && !isBackwards)) return part
    this.found.speed(name, isRemapped ? 'at a speed that varies' : isBackwards ? 'backwards' : signed)
    // Adobe does not say how such a clip counts in its file.
    if (isRemapped || isBackwards) return { start: ZERO, end: FOREVER }
    // The whole clip counts: a guess at which part of a retimed clip a window shows could be wrong.
    return hull({ start: sourceStart, end: add(end, multiply(tail, speed)) }, playedPart(placement, null) ?? part)
  }

  #mediaOf(source: XmlElement): XmlElement | undefined {
    return this.#objects.named(below(source, 'MediaSource', 'Media'))
  }

  #media(clip: string, media: XmlElement | undefined, range: TimeRange): void {
    const written = MEDIA_PATHS.flatMap((name) => childElements(media, name).map(({ text }) => text))
    const paths = [...new Set(written.filter((path) => path !== ''))]
    const [path] = paths
    if (!media || path === undefined) {
      this.found.left('missing-reference', clip)
    } else if (/^\d+$/.test(path)) {
      // A number is the kind of a generator: bars, tone, black.
      this.found.left('generator', clip)
    } else {
      this.found.use({ id: objectKey(media), name: nameOfPath(path), paths, origin: ZERO }, clip, [range])
    }
  }
}

/** Place of an item on its track; a missing start is 0. Undefined for an item without a length. */
function placeOf(item: XmlElement | undefined): TimeRange | undefined {
  const place = child(item, 'TrackItem')
  const [start, end] = [ticksIn(place, 'Start') ?? ZERO, ticksIn(place, 'End')]
  return end && compare(start, end) < 0 ? { start, end } : undefined
}

/** How far transitions over the two edges of a clip reach beyond them. */
function handlesOf(
  at: TimeRange,
  transitions: readonly TimeRange[],
): { readonly lead: Rational; readonly tail: Rational } {
  const over = (edge: Rational) =>
    transitions.filter(({ start, end }) => compare(start, edge) <= 0 && compare(edge, end) <= 0)
  return {
    lead: over(at.start)
      .map(({ start }) => subtract(at.start, start))
      .reduce(larger, ZERO),
    tail: over(at.end)
      .map(({ end }) => subtract(end, at.end))
      .reduce(larger, ZERO),
  }
}

/** The paths of a media file. A relative path may also be absolute, which leads to the file from any folder. */
const MEDIA_PATHS = ['ActualMediaFilePath', 'FilePath', 'RelativePath']
/** Paths of what Premiere made from the old sound, and would play in its place: without them, it makes them again. */
const CACHES = ['ConformedAudioPath', 'PeakFilePath']

/** Writes other paths into the media of a project; every other byte stays. */
function relinkPremiere(text: string, objects: PremiereObjects, media: ReadonlyMap<string, RelinkedMedia>): string {
  const edits = objects.all.flatMap((object) => {
    const made = object.name === 'Media' ? media.get(objectKey(object)) : undefined
    if (!made) return []
    const streams = childElements(object, 'AudioStream').map((stream) => objects.named(stream))
    return [
      ...withText(text, object, MEDIA_PATHS, made.path),
      ...streams.flatMap((one) => withText(text, one, CACHES, '')),
    ]
  })
  // Two media can share a stream.
  return applyEdits(text, [...new Map(edits.map((edit) => [edit.start, edit])).values()])
}

function withText(
  text: string,
  element: XmlElement | undefined,
  names: readonly string[],
  value: string,
): readonly TextEdit[] {
  return names.flatMap((name) =>
    childElements(element, name)
      .filter((one) => one.text !== '')
      .map((one) => textEdit(text, one, value)),
  )
}
