import { FoundClips } from '../found-clips.js'
import { addressOfPath, nameOfPath, pathOfAddress } from '../media-path.js'
import { NestingGuard } from '../nesting-guard.js'
import { add, divide, FOREVER, ONE, type Rational, rational, subtract, ZERO } from '../time/rational.js'
import { moved, playedPart, type TimeRange } from '../time/time-range.js'
import type { RelinkedMedia, Timeline } from '../timeline.js'
import { AafContent, isFile, locatorsOf, slotOf } from './aaf-content.js'
import {
  type AafObject,
  CLASS,
  definitionIn,
  identityIn,
  integerIn,
  objectIn,
  objectsIn,
  PROPERTY,
  propertiesWith,
  rateIn,
  utf16In,
} from './aaf-objects.js'
import { type CompoundFile, parseCompoundFile } from './compound-file.js'
import { writeCompoundFile } from './write-compound-file.js'

/** Definitions of sound and of picture, of today and of the first files. */
const SOUND = new Set(['0202030100020000060e2b3404010101', 'e1ebe178ef6cd211807d006008143e6f'])
const PICTURE = new Set(['0202030100010000060e2b3404010101', 'e18c3c6fef6cd211807d006008143e6f'])
/** Clips that lead through this many mobs in all are more than any film has. */
const MOST_VISITS = 100_000

/**
 * Reads an AAF file, given as one character for each byte. Clips on the sound tracks of its compositions count, or those
 * on the picture tracks if there are none. Follows compositions and master clips to the files behind them.
 *
 * @throws {TimelineSyntaxError}
 */
export function readAaf(text: string): Timeline {
  const file = parseCompoundFile(Buffer.from(text, 'latin1'))
  const content = new AafContent(file)
  const reading = new AafReading(content)
  for (const mob of content.tops) reading.composition(mob, SOUND)
  if (!reading.hasClips) for (const mob of content.tops) reading.composition(mob, PICTURE)
  return reading.found.timeline((media) => (media.size === 0 ? text : relinkAaf(file, content, media)))
}

/** Writes other addresses into the locators of files. All other streams keep their bytes. */
function relinkAaf(file: CompoundFile, { mobs }: AafContent, media: ReadonlyMap<string, RelinkedMedia>): string {
  const contents = new Map(
    [...media].flatMap(([id, made]) => {
      const mob = mobs.get(id)
      return (mob ? locatorsOf(mob) : []).flatMap(({ locator, url }) => {
        const stream = locator.storage.children.get('properties')
        const address = Buffer.from(`${addressOfPath(made.path, url)}\0`, 'utf16le')
        return stream ? [[stream, propertiesWith(locator, PROPERTY.url, address)] as const] : []
      })
    }),
  )
  return writeCompoundFile(file, contents).toString('latin1')
}

/** Part of a segment that is played, in seconds from its own start, and what it lies in. */
interface Play {
  readonly part: TimeRange
  readonly rate: Rational
  readonly clip: string
  readonly depth: number
}

class AafReading {
  readonly found = new FoundClips()
  hasClips = false
  readonly #content: AafContent
  readonly #guard = new NestingGuard(MOST_VISITS)

  constructor(content: AafContent) {
    this.#content = content
  }

  composition(mob: AafObject, kinds: ReadonlySet<string>): void {
    for (const slot of objectsIn(mob, PROPERTY.slots)) {
      const [segment, rate] = [objectIn(slot, PROPERTY.segment), rateIn(slot, PROPERTY.editRate)]
      const kind = definitionIn(segment, PROPERTY.dataDefinition)
      if (!segment || !rate || kind === undefined || !kinds.has(kind)) continue
      const clip = utf16In(mob, PROPERTY.mobName) ?? ''
      this.#segment(segment, { part: wholeOf(segment, rate), rate, clip, depth: 0 })
    }
  }

  #segment(segment: AafObject | undefined, play: Play): void {
    if (!segment) return
    this.#guard.enter(play.depth)
    const inner = { ...play, depth: play.depth + 1 }
    switch (segment.classNumber) {
      case CLASS.sequence:
        this.#sequence(segment, inner)
        return
      case CLASS.sourceClip:
        this.#clip(segment, inner)
        return
      case CLASS.operationGroup: {
        const isWarp = this.#content.timeWarps.has(definitionIn(segment, PROPERTY.operation) ?? '')
        for (const input of objectsIn(segment, PROPERTY.inputs)) this.#input(input, segment, isWarp, inner)
        return
      }
      case CLASS.pulldown: {
        const input = objectIn(segment, PROPERTY.pulldownInput)
        if (input) this.#input(input, segment, true, inner)
        return
      }
      case CLASS.nestedScope:
        for (const slot of objectsIn(segment, PROPERTY.scopeSlots)) this.#segment(slot, inner)
        return
      case CLASS.essenceGroup:
        for (const choice of objectsIn(segment, PROPERTY.choices)) this.#segment(choice, inner)
        return
      case CLASS.selector:
        this.#selector(segment, inner)
        return
      default:
    }
  }

  /** A transition plays the end of the component before it and the start of that after it at the same time. */
  #sequence(sequence: AafObject, play: Play): void {
    let at = ZERO
    const components = objectsIn(sequence, PROPERTY.components)
    this.#guard.pass(components.length)
    for (const component of components) {
      const length = lengthOf(component, play.rate)
      if (component.classNumber === CLASS.transition) {
        at = subtract(at, length)
        continue
      }
      const placement = { at: { start: at, end: add(at, length) }, sourceStart: ZERO, speed: ONE }
      const part = playedPart(placement, play.part)
      if (part) this.#segment(component, { ...play, part })
      at = add(at, length)
    }
  }

  /** The input of an effect has the effect's clock, unless the effect changes speed. */
  #input(input: AafObject, effect: AafObject, isWarp: boolean, play: Play): void {
    const whole = wholeOf(input, play.rate)
    const isSame = integerIn(input, PROPERTY.length) === integerIn(effect, PROPERTY.length)
    const isRetimed = isWarp || !isSame
    this.#segment(input, isRetimed ? { ...play, part: whole } : play)
    if (isRetimed)
      this.found.add('speed', this.#nameOf(input) || play.clip, 'plays at another speed: the range it covers is taken')
  }

  /** Media Composer keeps a clip that is off as the alternative of nothing. */
  #selector(selector: AafObject, play: Play): void {
    const selected = objectIn(selector, PROPERTY.selected)
    const isOff = selected?.classNumber === CLASS.filler || selected?.classNumber === CLASS.scopeReference
    if (!isOff) this.#segment(selected, play)
    else
      for (const one of objectsIn(selector, PROPERTY.alternates))
        this.found.left('disabled', this.#nameOf(one) || play.clip)
  }

  #clip(clip: AafObject, play: Play): void {
    const id = identityIn(clip, PROPERTY.sourceId)
    // A clip without a source is the end of its chain.
    if (id === undefined) return
    this.hasClips = true
    const mob = this.#content.mobs.get(id)
    const slot = mob && slotOf(mob, integerIn(clip, PROPERTY.sourceSlotId))
    const name = (mob?.classNumber !== CLASS.sourceMob && utf16In(mob, PROPERTY.mobName)) || play.clip
    const [segment, rate] = [objectIn(slot, PROPERTY.segment), rateIn(slot, PROPERTY.editRate)]
    if (!mob || !rate) {
      this.found.left('missing-reference', name)
      return
    }
    // Its start counts in its own edit units, and the slot's origin in those of the slot.
    const start = seconds(integerIn(clip, PROPERTY.startTime), play.rate)
    const part = moved(play.part, add(start, seconds(integerIn(slot, PROPERTY.origin), rate)))
    if (isFile(mob)) this.#file(id, mob, name, part)
    else if (mob.classNumber === CLASS.sourceMob)
      this.found.left('missing-reference', name, 'is on a tape and in no file')
    else this.#segment(segment, { part, rate, clip: name, depth: play.depth })
  }

  #file(id: string, mob: AafObject, clip: string, range: TimeRange): void {
    const paths = locatorsOf(mob).map(({ url }) => pathOfAddress(url))
    const [path] = paths
    if (this.#content.embedded.has(id)) {
      this.found.left('unread', clip, 'has its sound in the AAF file itself, which is not supported')
    } else if (path === undefined) {
      this.found.left('missing-reference', clip)
    } else {
      this.found.use({ id, name: nameOfPath(path), paths, origin: ZERO }, clip, [range])
    }
  }

  /** Name of the mob that a clip plays. */
  #nameOf(segment: AafObject): string {
    const mob = this.#content.mobs.get(identityIn(segment, PROPERTY.sourceId) ?? '')
    return utf16In(mob, PROPERTY.mobName) ?? ''
  }
}

/** All of a segment. The components of a sequence say how long it is. */
function wholeOf(segment: AafObject, rate: Rational): TimeRange {
  return { start: ZERO, end: segment.classNumber === CLASS.sequence ? FOREVER : lengthOf(segment, rate) }
}

function lengthOf(segment: AafObject, rate: Rational): Rational {
  return seconds(integerIn(segment, PROPERTY.length), rate)
}

function seconds(units: bigint | undefined, rate: Rational): Rational {
  return divide(rational(units ?? 0n), rate)
}
