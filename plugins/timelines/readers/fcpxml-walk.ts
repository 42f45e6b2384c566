import { FoundClips } from '../found-clips.js'
import { NestingGuard } from '../nesting-guard.js'
import { add, compare, FOREVER, larger, multiply, ONE, type Rational, subtract, ZERO } from '../time/rational.js'
import { hull, intersection, length, moved, playedPart, type TimeRange, widened } from '../time/time-range.js'
import { assetSource, type FcpxmlResources, hasAudio } from './fcpxml-resources.js'
import {
  audioRoles,
  conformedSpeed,
  isAmong,
  isMuted,
  isOn,
  mappedRange,
  type TimePoint,
  timeAttribute,
  timePoints,
} from './fcpxml-values.js'
import { child, childElements, type XmlElement } from './xml-document.js'

/** Elements that play something in a storyline. */
const STORY = new Set('asset-clip clip sync-clip ref-clip mc-clip video audio audition gap title'.split(' '))
/** Roles that do not hold a voice. */
const NO_VOICE = new Set(['music', 'effects'])

/** Surroundings of an element: the part of its parent's clock that is played, and its sequence. */
interface Surroundings {
  readonly window: TimeRange | null
  readonly rate: Rational | undefined
  readonly depth: number
  /** Uses of elements and of the clips connected to them. */
  readonly heard: 'all' | 'storyline' | 'connected'
}

/** One pass over the storylines of an FCPXML. */
export class FcpxmlWalk {
  readonly found = new FoundClips()
  readonly #resources: FcpxmlResources
  readonly #guard = new NestingGuard()

  constructor(resources: FcpxmlResources) {
    this.#resources = resources
  }

  project(project: XmlElement): void {
    for (const sequence of childElements(project, 'sequence')) this.#sequence(sequence, null, 0)
  }

  #sequence(sequence: XmlElement, window: TimeRange | null, depth: number): void {
    const spine = child(sequence, 'spine')
    const start = timeAttribute(sequence, 'tcStart') ?? ZERO
    const rate = this.#resources.frameRate(sequence)
    if (spine) this.#storyline(spine.children, start, { window, rate, depth, heard: 'all' })
  }

  /** Elements one after the other, but where they say their own place. */
  #storyline(children: readonly XmlElement[], start: Rational, around: Surroundings): void {
    this.#guard.enter(around.depth)
    this.#guard.pass(children.length)
    let at = start
    for (const [index, element] of children.entries()) {
      if (!STORY.has(element.name)) continue
      const offset = timeAttribute(element, 'offset') ?? at
      const duration = this.#durationOf(element)
      const [before, after] = [children[index - 1], children[index + 1]]
      const lead = reachOf(before, (from) => subtract(offset, from))
      const tail = reachOf(after, (_, until) => subtract(until, add(offset, duration)))
      this.#element(element, { offset, duration, lead, tail }, around)
      at = add(offset, duration)
    }
  }

  #element(
    element: XmlElement,
    { offset, duration, lead, tail }: { offset: Rational; duration: Rational; lead: Rational; tail: Rational },
    around: Surroundings,
  ): void {
    this.#guard.pass(element.children.length)
    const start = this.#startOf(element)
    const shift = subtract(start, offset)
    this.#anchored(element, { ...around, window: around.window && moved(around.window, shift) })
    if (around.heard === 'connected') return
    const name = element.attributes.name ?? ''
    if (!isOn(element, 'enabled')) {
      this.found.left('disabled', name)
      return
    }
    // The sound of a clip can begin and end elsewhere than its picture.
    const audioStart = timeAttribute(element, 'audioStart') ?? start
    const audioDuration = timeAttribute(element, 'audioDuration') ?? duration
    const at = subtract(audioStart, shift)
    const placement = {
      at: widened({ start: at, end: add(at, audioDuration) }, lead, tail),
      sourceStart: subtract(audioStart, lead),
      speed: ONE,
    }
    const part = playedPart(placement, around.window)
    if (part) this.#content(element, name, part, around)
  }

  /** Adds the media that an element itself plays in a part of its own clock. */
  #content(element: XmlElement, name: string, part: TimeRange, around: Surroundings): void {
    if (element.attributes.srcEnable === 'video') return
    if (isMuted(element)) {
      this.found.left('disabled', name, 'is muted')
      return
    }
    const window = this.#retimed(element, name, part, around.rate)
    const inner: Surroundings = { ...around, window, depth: around.depth + 1, heard: 'all' }
    switch (element.name) {
      // `video` plays the picture of its asset alone: the sound of an opened clip is an `audio` in it.
      case 'asset-clip':
      case 'audio':
        this.#asset(element, name, window)
        return
      case 'ref-clip': {
        const sequence = this.#resources.sequence(element.attributes.ref)
        if (sequence) this.#sequence(sequence, window, inner.depth)
        else this.found.left('missing-reference', name, 'refers to no compound clip')
        return
      }
      case 'mc-clip':
        this.#multicam(element, inner)
        return
      case 'audition':
        this.#storyline(element.children.filter((one) => STORY.has(one.name)).slice(0, 1), ZERO, inner)
        return
      case 'clip':
      case 'sync-clip':
        this.#contained(element, inner)
        return
      default:
    }
  }

  #asset(element: XmlElement, clip: string, range: TimeRange): void {
    const asset = this.#resources.asset(element.attributes.ref)
    if (!asset || !hasAudio(asset)) return
    const roles = audioRoles(element)
    if (roles.length > 0 && roles.every((role) => NO_VOICE.has(role))) {
      this.found.left('role', clip || (asset.attributes.name ?? ''), `has the role ${roles[0]}`)
      return
    }
    this.found.use(assetSource(asset), clip || (asset.attributes.name ?? ''), [range])
  }

  #multicam(element: XmlElement, around: Surroundings): void {
    const multicam = this.#resources.multicam(element.attributes.ref)
    const chosen = childElements(element, 'mc-source').filter(
      (source) => /^(all|audio)$/.test(source.attributes.srcEnable ?? 'all') && !isMuted(source),
    )
    for (const { attributes } of chosen) {
      this.#guard.pass(multicam?.children.length ?? 0)
      const angle = childElements(multicam, 'mc-angle').find((one) => one.attributes.angleID === attributes.angleID)
      if (angle) this.#storyline(angle.children, timeAttribute(multicam, 'tcStart') ?? ZERO, around)
    }
  }

  /** The content of a clip that wraps others; which of it is heard, a synchronized clip says. */
  #contained(element: XmlElement, around: Surroundings): void {
    const isSilent = (sourceID: string) =>
      childElements(element, 'sync-source').some((source) => source.attributes.sourceID === sourceID && isMuted(source))
    const inner = { ...around, heard: heardOf(!isSilent('storyline'), !isSilent('connected')) }
    for (const one of element.children) {
      if (one.attributes.lane !== undefined) continue
      if (one.name === 'spine') this.#storyline(one.children, ZERO, inner)
      else if (STORY.has(one.name)) this.#alone(one, inner)
    }
  }

  /** Clips connected to an element, on that element's own clock: a cut of the element does not cut them. */
  #anchored(element: XmlElement, around: Surroundings): void {
    if (around.heard === 'storyline') return
    for (const one of element.children) {
      const isConnected = one.attributes.lane !== undefined && (one.name === 'spine' || STORY.has(one.name))
      if (isConnected) this.#alone(one, { ...around, heard: 'all' })
    }
  }

  #alone(element: XmlElement, around: Surroundings): void {
    const offset = timeAttribute(element, 'offset') ?? ZERO
    if (element.name === 'spine') {
      // A storyline of its own counts from zero where it is connected.
      const window = around.window && moved(around.window, subtract(ZERO, offset))
      this.#storyline(element.children, ZERO, { ...around, window, depth: around.depth + 1 })
      return
    }
    const duration = this.#durationOf(element)
    this.#element(element, { offset, duration, lead: ZERO, tail: ZERO }, { ...around, depth: around.depth + 1 })
  }

  /** The part of its content's clock that a part of an element's own clock plays. */
  #retimed(element: XmlElement, name: string, part: TimeRange, rate: Rational | undefined): TimeRange {
    const points = timePoints(element)
    const asset = this.#resources.asset(element.attributes.ref)
    const first = timeAttribute(asset, 'start') ?? ZERO
    if (points.length > 1) {
      this.found.add('speed', name, 'is retimed: the range it covers is taken')
      return this.#mapped(element, part, points, first)
    }
    const speed = conformedSpeed(element, rate)
    if (speed.numerator === speed.denominator) return part
    this.found.add('speed', name, 'is conformed to the frame rate of the sequence: the range it can cover is taken')
    const from = add(first, multiply(subtract(part.start, first), speed))
    return hull(part, { start: from, end: add(from, multiply(length(part), speed)) })
  }

  /**
   * The ranges that a retimed clip covers. Its points count on its own clock, but some programs count them from the
   * clip's start. If the clip is not among its points, both readings are covered, as far as the asset reaches.
   */
  #mapped(element: XmlElement, part: TimeRange, points: readonly TimePoint[], first: Rational): TimeRange {
    // Values count from the asset's clock, or from zero where that could not be.
    const onAsset = (range: TimeRange) => (compare(range.end, first) <= 0 ? moved(range, first) : range)
    const own = onAsset(mappedRange(part, points))
    if (isAmong(part, points)) return own
    const fromZero = onAsset(mappedRange(moved(part, subtract(ZERO, this.#startOf(element))), points))
    const duration = timeAttribute(this.#resources.asset(element.attributes.ref), 'duration') ?? FOREVER
    const whole = { start: first, end: add(first, duration) }
    const possible = [own, fromZero].filter((range) => intersection(range, whole))
    return possible.length > 0 ? possible.reduce(hull) : own
  }

  #startOf(element: XmlElement): Rational {
    const { ref } = element.attributes
    const given = timeAttribute(element, 'start')
    if (given) return given
    const refers = this.#resources.asset(ref)
    if (refers) return timeAttribute(refers, 'start') ?? ZERO
    return timeAttribute(this.#resources.sequence(ref) ?? this.#resources.multicam(ref), 'tcStart') ?? ZERO
  }

  #durationOf(element: XmlElement): Rational {
    const { ref } = element.attributes
    const [first] = element.name === 'audition' ? element.children.filter(({ name }) => STORY.has(name)) : []
    if (first) return this.#durationOf(first)
    const refers = this.#resources.asset(ref) ?? this.#resources.sequence(ref)
    return timeAttribute(element, 'duration') ?? timeAttribute(refers, 'duration') ?? FOREVER
  }
}

/** Which of a wrapping clip's content is heard; nothing at all is what `isMuted` says of it. */
function heardOf(isStorylineHeard: boolean, isConnectedHeard: boolean): Surroundings['heard'] {
  if (isStorylineHeard === isConnectedHeard) return 'all'
  return isStorylineHeard ? 'storyline' : 'connected'
}

/** How far a transition beside a clip reaches beyond the clip's own range; 0 without one. */
function reachOf(element: XmlElement | undefined, beyond: (start: Rational, end: Rational) => Rational): Rational {
  if (element?.name !== 'transition') return ZERO
  const [start, duration] = [timeAttribute(element, 'offset'), timeAttribute(element, 'duration')]
  return start && duration ? larger(ZERO, beyond(start, add(start, duration))) : ZERO
}
