import { FoundClips } from '../found-clips.js'
import { addressOfPath, nameOfPath, pathOfAddress } from '../media-path.js'
import { NestingGuard } from '../nesting-guard.js'
import { applyEdits } from '../text-edits.js'
import { add, divide, larger, ONE, type Rational, rational, subtract, ZERO } from '../time/rational.js'
import { hull, moved, playedPart, scaled, type TimeRange, widened } from '../time/time-range.js'
import type { Timeline } from '../timeline.js'
import { TimelineSyntaxError } from '../timeline-error.js'
import {
  childText,
  clipRange,
  frameNumber,
  isOff,
  rateOf,
  remappedFrames,
  subclipStart,
  type TimeRemap,
  timeRemapOf,
} from './fcp7-values.js'
import { child, childElements, descendants, parseXml, textEdit, type XmlElement } from './xml-document.js'

/**
 * Reads Final Cut Pro 7 XML (xmeml 4 and 5), as Premiere Pro, Resolve and others write it. Follows nested sequences
 * to the clips on audio tracks, or on video tracks if there are none.
 *
 * @throws {TimelineSyntaxError}
 */
export function readFcp7(text: string): Timeline {
  const root = parseXml(text)
  if (root.name !== 'xmeml') throw new TimelineSyntaxError('it is not Final Cut Pro 7 XML (its root is not xmeml)')
  const files = [...descendants(root)].filter(({ name, children }) => name === 'file' && children.length > 0)
  const reading = new Fcp7Reading(root, files)
  const tops = topSequences(root)
  for (const sequence of tops) reading.sequence(sequence, null, 0, 'audio')
  if (!reading.hasClips) for (const sequence of tops) reading.sequence(sequence, null, 0, 'video')
  return reading.found.timeline((media) => {
    const edits = files.flatMap((file) => {
      const [made, url] = [media.get(fileId(file)), child(file, 'pathurl')]
      return made && url ? [textEdit(text, url, addressOfPath(made.path, url.text))] : []
    })
    return applyEdits(text, edits)
  })
}

/** The sequences that no other plays. */
function topSequences(root: XmlElement): readonly XmlElement[] {
  const nested = new Set<string>()
  for (const { name, children } of descendants(root)) {
    if (name === 'clipitem')
      for (const one of children) if (one.name === 'sequence') nested.add(one.attributes.id ?? '')
  }
  const all = outsideClips(root)
  const tops = all.filter(({ attributes }) => attributes.id === undefined || !nested.has(attributes.id))
  return tops.length > 0 ? tops : all
}

function outsideClips(element: XmlElement): readonly XmlElement[] {
  if (element.name === 'clipitem') return []
  if (element.name === 'sequence') return [element]
  return element.children.flatMap(outsideClips)
}

/** A file is defined once and meant by its id from then on. */
function fileId({ attributes, start }: XmlElement): string {
  return attributes.id ?? `at ${start}`
}

class Fcp7Reading {
  readonly found = new FoundClips()
  hasClips = false
  readonly #guard = new NestingGuard()
  readonly #files: ReadonlyMap<string, XmlElement>
  readonly #sequences: ReadonlyMap<string, XmlElement>

  constructor(root: XmlElement, files: readonly XmlElement[]) {
    this.#files = new Map(files.map((file) => [fileId(file), file]))
    const sequences = [...descendants(root)].filter(({ name, children }) => name === 'sequence' && children.length > 0)
    this.#sequences = new Map(sequences.map((sequence) => [sequence.attributes.id ?? '', sequence]))
  }

  /** `window` on the sequence's own clock, null for all of it. */
  sequence(sequence: XmlElement, window: TimeRange | null, depth: number, kind: 'audio' | 'video'): void {
    this.#guard.enter(depth)
    const rate = rateOf(sequence) ?? rational(25)
    for (const track of childElements(child(child(sequence, 'media'), kind), 'track')) {
      if (isOff(track)) {
        this.found.left('disabled', `A track of ${childText(sequence, 'name') ?? 'the sequence'}`, 'is off')
        continue
      }
      this.#guard.pass(track.children.length)
      for (const [index, item] of track.children.entries()) {
        if (item.name === 'generatoritem' && kind === 'audio')
          this.found.left('generator', childText(item, 'name') ?? '')
        if (item.name === 'clipitem') this.#clip(item, neighbours(track.children, index), { rate, window, depth, kind })
      }
    }
  }

  #clip(
    item: XmlElement,
    around: Neighbours,
    { rate, window, depth, kind }: { rate: Rational; window: TimeRange | null; depth: number; kind: 'audio' | 'video' },
  ): void {
    this.hasClips = true
    const name = childText(item, 'name') ?? ''
    if (isOff(item)) {
      this.found.left('disabled', name)
      return
    }
    const own = rateOf(item) ?? rate
    const remap = timeRemapOf(item)
    const { placement, whole } = placed(item, { ...around, rate, own, isRetimed: remap !== undefined })
    const shown = playedPart(placement, window)
    // The whole clip counts: a guess at which part of a retimed clip a window shows could be wrong.
    const part = shown && remap ? whole : shown
    if (!part) return
    const nested = child(item, 'sequence')
    const definition = nested && (this.#sequences.get(nested.attributes.id ?? '') ?? nested)
    const file = this.#fileOf(item)
    const parts = remap
      ? this.#retimed(name, part, { ...remap, rate: own, duration: frameNumber(definition ?? file, 'duration') })
      : [part]
    if (definition) this.sequence(definition, parts.reduce(hull), depth + 1, kind)
    else this.#file(item, name, parts, divide(rational(subclipStart(item)), own))
  }

  /** Ranges that a clip with a change of speed can play, in seconds of its source. */
  #retimed(
    clip: string,
    part: TimeRange,
    { rate, duration, ...remap }: TimeRemap & { rate: Rational; duration: bigint | undefined },
  ) {
    this.found.speed(clip, remap.frames.length > 0 ? 'at a speed that varies' : remap.speed)
    return remappedFrames(scaled(part, rate), remap, duration).map((frames) => scaled(frames, divide(ONE, rate)))
  }

  #fileOf(item: XmlElement): XmlElement | undefined {
    const named = child(item, 'file')
    return named && (this.#files.get(fileId(named)) ?? named)
  }

  /** `offset` is where in its file a subclip begins. */
  #file(item: XmlElement, clip: string, parts: readonly TimeRange[], offset: Rational): void {
    const file = this.#fileOf(item)
    const address = childText(file, 'pathurl')
    if (!file || !address) {
      this.found.left('missing-reference', clip)
      return
    }
    const path = pathOfAddress(address)
    const source = { id: fileId(file), name: nameOfPath(path), paths: [path], origin: ZERO }
    this.found.use(
      source,
      clip,
      parts.map((part) => moved(part, offset)),
    )
  }
}

interface Neighbours {
  readonly before: XmlElement | undefined
  readonly after: XmlElement | undefined
}

/** The transitions at both sides of a clip. */
function neighbours(items: readonly XmlElement[], index: number): Neighbours {
  const transition = (item: XmlElement | undefined) => (item?.name === 'transitionitem' ? item : undefined)
  return { before: transition(items[index - 1]), after: transition(items[index + 1]) }
}

/** The time at which a clip is heard, with the transitions at its sides, and the part of its source that it covers then. */
function placed(
  item: XmlElement,
  { before, after, rate, own, isRetimed }: Neighbours & { rate: Rational; own: Rational; isRetimed: boolean },
) {
  // A clip that a transition bounds has -1 there, and its in and out reach to the transition's far end.
  const [start, end] = [frameNumber(item, 'start'), frameNumber(item, 'end')]
  const lead = secondsBetween(frameNumber(before, 'start'), start, rate)
  const tail = secondsBetween(end, frameNumber(after, 'end'), rate)
  const source = clipRange(item, own)
  const at = divide(rational(start ?? frameNumber(before, 'start') ?? 0n), rate)
  const playing = isRetimed && start !== undefined && end !== undefined ? end - start : undefined
  const length = playing === undefined ? subtract(source.end, source.start) : divide(rational(playing), rate)
  const heard = widened({ start: at, end: add(at, length) }, lead, tail)
  return {
    placement: { at: heard, sourceStart: subtract(source.start, lead), speed: ONE },
    whole: widened(source, lead, tail),
  }
}

/** Seconds from one place to a later one; 0 if it is not later, or if either is not set. */
function secondsBetween(earlier: bigint | undefined, later: bigint | undefined, rate: Rational): Rational {
  if (later === undefined || earlier === undefined) return ZERO
  return larger(ZERO, divide(rational(later - earlier), rate))
}
