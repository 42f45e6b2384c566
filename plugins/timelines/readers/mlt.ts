import { basename } from 'node:path'
import { FoundClips } from '../found-clips.js'
import { nameOfPath } from '../media-path.js'
import { NestingGuard } from '../nesting-guard.js'
import { applyEdits, type TextEdit } from '../text-edits.js'
import { absolute, add, FOREVER, negate, ONE, percent, type Rational, ZERO } from '../time/rational.js'
import { hullOf, playedPart, scaled, type TimeRange } from '../time/time-range.js'
import type { RelinkedMedia, Timeline } from '../timeline.js'
import { TimelineSyntaxError } from '../timeline-error.js'
import {
  isSilent,
  mediaOf,
  placeInFrames,
  projectRate,
  property,
  propertyElement,
  remapOf,
  secondsOf,
} from './mlt-values.js'
import { child, parseXml, removal, textEdit, type XmlElement } from './xml-document.js'

const PLAYABLE = new Set(['producer', 'chain', 'playlist', 'tractor'])

/**
 * Reads an MLT project, as Shotcut and Kdenlive save it. Follows transitions and nested sequences of the timeline that
 * would be rendered, on tracks whose sound is not hidden.
 *
 * @throws {TimelineSyntaxError}
 */
export function readMlt(text: string): Timeline {
  const root = parseXml(text)
  if (root.name !== 'mlt') throw new TimelineSyntaxError('it is not an MLT project (its root is not mlt)')
  const playable = root.children.filter(({ name }) => PLAYABLE.has(name))
  // The last one is what melt plays: everything before it is what it is made of.
  const main =
    playable.findLast(({ name }) => name === 'tractor') ?? playable.findLast(({ name }) => name === 'playlist')
  if (!main) throw new TimelineSyntaxError('it holds no timeline')
  const walk = new MltWalk(root, playable)
  walk.play(main, null, 0)
  // Clips of the bin as well: a project holds each file several times.
  return walk.found.timeline((media) => relinkMlt(text, root, playable, media))
}

class MltWalk {
  readonly found = new FoundClips()
  readonly #guard = new NestingGuard()
  readonly #root: XmlElement
  readonly #rate: Rational
  readonly #byId: ReadonlyMap<string, XmlElement>

  constructor(root: XmlElement, playable: readonly XmlElement[]) {
    this.#root = root
    this.#rate = projectRate(root)
    this.#byId = new Map(playable.map((one) => [one.attributes.id ?? '', one]))
  }

  /** `window` on the element's own clock, null for all of it. */
  play(element: XmlElement | undefined, window: TimeRange | null, depth: number): void {
    switch (element?.name) {
      case 'tractor':
        this.#guard.enter(depth)
        this.#guard.pass(element.children.length)
        for (const track of [...element.children, ...(child(element, 'multitrack')?.children ?? [])]) {
          const { hide, producer } = track.attributes
          if (track.name !== 'track' || hide === 'audio' || hide === 'both') continue
          this.#entry(track, this.#byId.get(producer ?? ''), ZERO, { window, depth })
        }
        return
      case 'playlist':
        this.#guard.enter(depth)
        this.#guard.pass(element.children.length)
        this.#playlist(element, window, depth)
        return
      case 'producer':
      case 'chain':
        this.#media(element, window)
        return
      default:
    }
  }

  #playlist(playlist: XmlElement, window: TimeRange | null, depth: number): void {
    let at = ZERO
    for (const entry of playlist.children) {
      if (entry.name === 'blank') at = add(at, this.#place(entry.attributes.length) ?? ZERO)
      if (entry.name !== 'entry') continue
      const { producer } = entry.attributes
      at = this.#entry(entry, this.#byId.get(producer ?? '') ?? child(entry, 'producer'), at, { window, depth })
    }
  }

  /** Adds the media that an entry or a track plays of a producer from a place on. @returns the place of its end */
  #entry(
    entry: XmlElement,
    producer: XmlElement | undefined,
    at: Rational,
    { window, depth }: { window: TimeRange | null; depth: number },
  ): Rational {
    const origin = this.#origin(producer)
    const first = add(origin, this.#place(entry.attributes.in) ?? ZERO)
    // Both ends are played: out is the last frame.
    const out = this.#place(entry.attributes.out)
    const last = out ? add(origin, out) : this.#place(producer?.attributes.out)
    const until = last && add(last, secondsOf(1n, this.#rate))
    if (!until) {
      this.play(producer, window, depth + 1)
      return at
    }
    const end = add(at, add(until, negate(first)))
    const part = playedPart({ at: { start: at, end }, sourceStart: first, speed: ONE }, window)
    if (part) this.play(producer, part, depth + 1)
    return end
  }

  /** The place from which those of an entry count: a producer that begins later, as melt saves it, moves them all. */
  #origin(producer: XmlElement | undefined): Rational {
    const isCounted = producer !== undefined && producer.name !== 'tractor'
    return (isCounted ? this.#place(producer.attributes.in) : undefined) ?? ZERO
  }

  #media(producer: XmlElement, window: TimeRange | null): void {
    const media = mediaOf(producer, this.#root)
    const caption = property(producer, 'shotcut:caption') ?? property(producer, 'kdenlive:clipname')
    if (!media) {
      const file = property(producer, 'resource') ?? ''
      if (property(producer, 'mlt_service') === 'xml' || /\.(mlt|kdenlive)$/i.test(file))
        this.found.add('nested-file', basename(file), 'is a project of its own: regenerate it by itself')
      return
    }
    if (isSilent(producer)) return
    const { address, paths, speed } = media
    const name = nameOfPath(address)
    const length = this.#place(property(producer, 'length')) ?? this.#place(producer.attributes.out)
    const played = window ?? (length && { start: ZERO, end: add(length, secondsOf(1n, this.#rate)) })
    if (!played) return
    const range = this.#covered(producer, caption || name, played, { speed, length })
    this.found.use({ id: address, name, paths, origin: ZERO }, caption || name, [range])
  }

  /** Maps a part of a producer's own clock through a change of speed. */
  #covered(
    producer: XmlElement,
    clip: string,
    played: TimeRange,
    { speed, length }: { speed: Rational; length: Rational | undefined },
  ): TimeRange {
    const remap = remapOf(producer)
    if (!remap && percent(speed) === 100) return played
    this.found.speed(clip, remap ? 'at a speed that varies' : speed)
    if (remap?.times.length === 0) return { start: ZERO, end: FOREVER }
    if (remap) return hullOf(remap.times)
    // Backwards it counts from the end of the file, which the project knows by frames alone: all of it.
    const covered = speed.numerator < 0n ? { start: ZERO, end: length ?? played.end } : played
    return scaled(covered, absolute(speed))
  }

  #place(text: string | undefined): Rational | undefined {
    const frames = placeInFrames(text, this.#rate)
    return frames === undefined ? undefined : secondsOf(frames, this.#rate)
  }
}

/** Properties by which an editor recognises the old file, and would look for it or say that it was replaced. */
const FINGERPRINTS = ['shotcut:hash', 'kdenlive:file_hash', 'kdenlive:file_size']

/** Names other files in all producers and chains that play one that was regenerated; proxies of the old one go. */
function relinkMlt(
  text: string,
  root: XmlElement,
  producers: readonly XmlElement[],
  media: ReadonlyMap<string, RelinkedMedia>,
): string {
  const edits = producers.flatMap((producer) => {
    const isMedia = producer.name === 'producer' || producer.name === 'chain'
    const made = isMedia ? media.get(mediaOf(producer, root)?.address ?? '') : undefined
    return made ? editsOf(text, producer, made.relativePath ?? made.path) : []
  })
  return applyEdits(text, edits)
}

function editsOf(text: string, producer: XmlElement, path: string): readonly TextEdit[] {
  const isWarped = property(producer, 'mlt_service') === 'timewarp'
  const speed = /^(-?[\d.,]+):/.exec(property(producer, 'resource') ?? '')?.[0] ?? ''
  const values: Readonly<Record<string, string>> = {
    resource: isWarped ? `${speed}${path}` : path,
    warp_resource: path,
    'kdenlive:originalurl': path,
    'kdenlive:proxy': '-',
  }
  const replaced = Object.entries(values).flatMap(([name, value]) => {
    const element = propertyElement(producer, name)
    return element ? [textEdit(text, element, value)] : []
  })
  const removed = FINGERPRINTS.map((name) => propertyElement(producer, name)).filter((one) => one !== undefined)
  return [...replaced, ...removed.map((one) => removal(text, one))]
}
