import { FoundClips } from '../found-clips.js'
import { addressOfPath, nameOfPath, pathOfAddress } from '../media-path.js'
import { applyEdits, type TextEdit } from '../text-edits.js'
import { absolute, add, compare, larger, multiply, ONE, type Rational, subtract, ZERO } from '../time/rational.js'
import { playedPart, type TimeRange, widened } from '../time/time-range.js'
import type { RelinkedMedia, Timeline, TimelineSource } from '../timeline.js'
import { TimelineSyntaxError } from '../timeline-error.js'
import { itemsOf, type JsonNode, type JsonObject, member, parseJsonTree, stringOf } from './json-tree.js'
import {
  activeReference,
  isDisabled,
  isUnranged,
  rangeValue,
  schemaOf,
  speedOf,
  timeOf,
  trimOf,
} from './otio-values.js'

/**
 * Reads an OpenTimelineIO file: clips on audio tracks, or on video tracks if there is no other sound. Follows nested
 * stacks and tracks, transitions and linear speed.
 *
 * @throws {TimelineSyntaxError}
 */
export function readOtio(text: string): Timeline {
  const root = parseJsonTree(text)
  if (schemaOf(root) === undefined) throw new TimelineSyntaxError('it holds no OTIO_SCHEMA')
  const onAudio = new OtioWalk('Audio')
  onAudio.container(root, null, null)
  const walk = onAudio.hasClips ? onAudio : new OtioWalk('Video')
  if (walk !== onAudio) walk.container(root, null, null)
  // Clips on video tracks as well: sound and picture of one file stay linked.
  return walk.found.timeline((media) => relinkOtio(text, walk.clips, media))
}

/** One pass over the composition, with the sound of tracks of one kind. */
class OtioWalk {
  readonly found = new FoundClips()
  /** Every clip of the file, whatever its track. */
  readonly clips: JsonNode[] = []
  hasClips = false
  readonly #kind: string

  constructor(kind: 'Audio' | 'Video') {
    this.#kind = kind
  }

  /** Contents of a timeline, collection, stack or track; `window` is on its own clock, null for all of it. */
  container(node: JsonNode, window: TimeRange | null, trackKind: string | null): void {
    switch (schemaOf(node)) {
      case 'Timeline': {
        const tracks = member(node, 'tracks')
        if (tracks) this.container(tracks, null, null)
        return
      }
      case 'SerializableCollection':
        for (const child of itemsOf(member(node, 'children'))) this.container(child, null, null)
        return
      case 'Stack':
        for (const child of itemsOf(member(node, 'children')))
          this.#item(child, { at: ZERO, before: ZERO, after: ZERO }, window, trackKind)
        return
      case 'Track':
        this.#track(node, window)
        return
      case 'Clip':
        this.#item(node, { at: ZERO, before: ZERO, after: ZERO }, window, this.#kind)
        return
      default:
    }
  }

  #track(track: JsonNode, window: TimeRange | null): void {
    const kind = stringOf(member(track, 'kind')) ?? 'Video'
    const children = itemsOf(member(track, 'children'))
    let at = ZERO
    for (const [index, child] of children.entries()) {
      if (schemaOf(child) === 'Transition') continue
      const before = transitionOffset(children[index - 1], 'in_offset')
      const after = transitionOffset(children[index + 1], 'out_offset')
      this.#item(child, { at, before, after }, window, kind)
      at = add(at, trimOf(child).duration)
    }
  }

  /** `before` and `after` are what transitions show of it besides its own range. */
  #item(
    node: JsonNode,
    { at, before, after }: { at: Rational; before: Rational; after: Rational },
    window: TimeRange | null,
    trackKind: string | null,
  ): void {
    const schema = schemaOf(node)
    if (schema === 'Clip') this.clips.push(node)
    const isHeard = trackKind === this.#kind || schema !== 'Clip'
    if (schema === 'Clip' && isHeard) this.hasClips = true
    const name = stringOf(member(node, 'name')) ?? ''
    if (isDisabled(node)) {
      this.found.left('disabled', name)
      return
    }
    const { start, duration } = trimOf(node)
    const signed = speedOf(node)
    const speed = absolute(signed)
    const placed = widened({ start: at, end: add(at, duration) }, before, after)
    const placement = { at: placed, sourceStart: subtract(start, multiply(before, speed)), speed }
    // The whole clip counts: a guess at which part of a reversed clip a window shows could be wrong.
    const isReversed = signed.numerator < 0n
    const part = playedPart(placement, window) && playedPart(placement, isReversed ? null : window)
    // Without a range of its own and of its media, its length is that of a file which is not read here.
    const isUnknown = schema === 'Clip' && isHeard && sourceOf(node) !== undefined && isUnranged(node)
    if (isUnknown) this.found.left('unread', name, 'says no range of its file')
    if (!part) return
    if (schema !== 'Clip') this.container(node, part, trackKind)
    else if (isHeard) this.#clip(node, name, part, signed)
  }

  #clip(node: JsonNode, clip: string, range: TimeRange, speed: Rational): void {
    if (speed.numerator === 0n) this.found.add('speed', clip, 'is a freeze frame, without sound')
    else if (compare(speed, ONE) !== 0) this.found.speed(clip, speed, 'the range it covers')
    const reference = activeReference(node)
    const source = sourceOf(node)
    if (source) this.found.use(source, clip, [range])
    else if (schemaOf(reference) === 'GeneratorReference') this.found.left('generator', clip)
    else if (schemaOf(reference) === 'ImageSequenceReference')
      this.found.add('picture-only', clip, 'is a sequence of pictures, without sound')
    else this.found.left('missing-reference', clip)
  }
}

/** How far a transition reaches into the neighbour on its other side. */
function transitionOffset(node: JsonNode | undefined, side: 'in_offset' | 'out_offset'): Rational {
  return schemaOf(node) === 'Transition' ? larger(ZERO, timeOf(member(node, side)) ?? ZERO) : ZERO
}

/** Under this key the regenerated media stands beside the original. */
const KEY = 'voxmux'

/**
 * Gives every clip of a source that was regenerated a second media reference and makes it the active one: the editor
 * can switch back. The new reference is the old one with another address. A clip of the schema that knows one
 * reference only (Clip.1) becomes one of that which knows several (Clip.2).
 */
function relinkOtio(text: string, clips: readonly JsonNode[], media: ReadonlyMap<string, RelinkedMedia>): string {
  const edits = clips.flatMap((clip) => {
    const made = media.get(sourceOf(clip)?.id ?? '')
    return made && clip.kind === 'object' && !isPlayed(clip, made) ? editsOf(text, clip, made) : []
  })
  return applyEdits(text, edits)
}

/** True of a clip that plays this file already: a cut over outputs of voxmux. */
function isPlayed(clip: JsonNode, { path, packedName, relativePath }: RelinkedMedia): boolean {
  const address = stringOf(member(activeReference(clip), 'target_url')) ?? ''
  return packedName === undefined && [path, relativePath].includes(pathOfAddress(address))
}

function editsOf(text: string, clip: JsonObject, made: RelinkedMedia): readonly TextEdit[] {
  const reference = activeReference(clip) as JsonNode
  const address = member(reference, 'target_url') as JsonNode
  const shift = reference.start
  const copy = applyEdits(text.slice(reference.start, reference.end), [
    {
      start: address.start - shift,
      end: address.end - shift,
      text: JSON.stringify(addressOf(made, stringOf(address) ?? '')),
    },
  ])
  const references = member(clip, 'media_references')
  return references?.kind === 'object' && references.members.size > 0
    ? addReference(clip, references, copy)
    : replaceReference(clip, reference, text.slice(reference.start, reference.end), copy)
}

/** A relative path stays relative if the new file lies beside the old one, and in a bundle; others become URLs. */
function addressOf({ path, packedName, relativePath }: RelinkedMedia, old: string): string {
  const name = packedName ?? relativePath
  if (name !== undefined && name === relativePath && pathOfAddress(old) !== old) {
    return encodeURI(name).replaceAll('#', '%23').replaceAll('?', '%3F')
  }
  // A name with a percent sign can look like an encoded address.
  if (name !== undefined) return pathOfAddress(name) === name ? name : name.replaceAll('%', '%25')
  return addressOfPath(path, /^file:/i.test(old) ? old : 'file:///')
}

function addReference(clip: JsonObject, references: JsonObject, copy: string): readonly TextEdit[] {
  let key = KEY
  for (let number = 2; references.members.has(key); number++) key = `${KEY} ${number}`
  const last = [...references.members.values()].at(-1)?.value.end ?? references.end - 1
  const active = clip.members.get('active_media_reference_key')
  return [
    { start: last, end: last, text: `, ${JSON.stringify(key)}: ${copy}` },
    active
      ? { start: active.value.start, end: active.value.end, text: JSON.stringify(key) }
      : { start: references.end, end: references.end, text: `, "active_media_reference_key": ${JSON.stringify(key)}` },
  ]
}

function replaceReference(clip: JsonObject, reference: JsonNode, original: string, copy: string): readonly TextEdit[] {
  const schema = clip.members.get('OTIO_SCHEMA')?.value
  const only = clip.members.get('media_reference')
  if (!schema || !only) return []
  const both = `{"DEFAULT_MEDIA": ${original}, ${JSON.stringify(KEY)}: ${copy}}`
  return [
    { start: schema.start, end: schema.end, text: '"Clip.2"' },
    { start: only.keyStart, end: only.keyEnd, text: '"media_references"' },
    {
      start: reference.start,
      end: reference.end,
      text: `${both}, "active_media_reference_key": ${JSON.stringify(KEY)}`,
    },
  ]
}

/** The media file of a clip; undefined if its reference names none. */
function sourceOf(clip: JsonNode): TimelineSource | undefined {
  const reference = activeReference(clip)
  const address = stringOf(member(reference, 'target_url'))
  if (schemaOf(reference) !== 'ExternalReference' || !address) return undefined
  const path = pathOfAddress(address)
  const available = rangeValue(member(reference, 'available_range'))
  // The same file can be described twice; the clock is the same only if the descriptions agree.
  const origin = available?.start ?? null
  const id = origin ? `${address}@${origin.numerator}/${origin.denominator}` : address
  return { id, name: nameOfPath(path), paths: [path], origin }
}
