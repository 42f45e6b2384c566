import { type Box, bodyOf, childAt, childBoxes, makeBox, resizedHeader } from '../../probe/movie/box.js'
import { SIGNS_OLD_BYTES } from '../census.js'
import { type LevelField, levelField, NEW_LEVEL } from '../level/level-field.js'
import { OLD_LEVEL, staleReason } from '../stale-facts.js'
import { CREDENTIALS_TYPE } from '../structure/iso-boxes.js'
import type { NewIsoTrack } from './lay-out/new-iso-track.js'
import type { Replacements } from './lay-out/sheet.js'
import { freeItems, GAPLESS, nameOf, textOf } from './read/gapless-info.js'
import { hintTracksOf } from './read/hint-tracks.js'
import type { IsoFile } from './read/iso-file.js'
import type { Movie } from './read/movie.js'

/** A box with facts about the old audio. */
export interface OldFact {
  readonly box: Box
  readonly fate: 'rewritten' | 'lost'
  readonly reason: string
  /** Set if the box keeps its bytes until the output is written. */
  readonly level?: LevelField
}

/** Bytes of a data item before its text: its type and its locale. */
const TYPE_BYTES = 8

/** Reason why the output lacks a hint track. */
const HINTS = 'this hint track tells a streaming server how to send the packets of the old sound'

/** True if a top-level box is a signature over the bytes of the file. */
function isCredential({ type, extendedType }: Box): boolean {
  return extendedType === CREDENTIALS_TYPE || type === 'jumb'
}

/** Finds the boxes with facts about the replaced audio. @param voices places of the tracks in the movie */
export function oldFacts({ structure, movie }: IsoFile, voices: readonly number[]): readonly OldFact[] {
  const credentials = structure.boxes.filter(isCredential).map((box) => {
    return { box, fate: 'lost', reason: SIGNS_OLD_BYTES } as const
  })
  const loudness = voices.flatMap((voice) => childBoxes(childAt(movie.tracks[voice]?.box, 'udta'), 'ludt'))
  const isOnly = isOnlySound(movie, voices)
  const hints = hintTracksOf(movie, voices).map(({ box }) => ({ box, fate: 'lost', reason: HINTS }) as const)
  return [
    ...credentials,
    ...hints,
    ...loudness.map((box) => ({ box, fate: 'lost', reason: OLD_LEVEL }) as const),
    ...freeItems(movie.box).flatMap((item) => (isOnly && levelFact(item)) || itemFact(item, voices.length)),
  ]
}

/** Statements about the level of the only sound. */
export function movieLevels(file: IsoFile, voices: readonly number[]): readonly LevelField[] {
  return oldFacts(file, voices).flatMap(({ level }) => level ?? [])
}

function isOnlySound({ tracks }: Movie, [voice]: readonly number[]): boolean {
  return tracks.every(({ handler }, place) => handler !== 'soun' || place === voice)
}

function levelFact(item: Box): OldFact | null {
  const data = childAt(item, 'data')
  if (!data) return null
  const at = data.headerBytes + TYPE_BYTES
  const level = levelField(nameOf(item), bodyOf(data).subarray(TYPE_BYTES), data.start + at)
  return level && { box: item, fate: 'rewritten', reason: NEW_LEVEL, level }
}

function itemFact(item: Box, voices: number): readonly OldFact[] {
  const name = nameOf(item)
  if (name === 'iTunSMPB') {
    const canBeNew = voices === 1 && GAPLESS.test(textOf(childAt(item, 'data')))
    return [
      canBeNew
        ? { box: item, fate: 'rewritten', reason: 'priming and length of the new sound' }
        : { box: item, fate: 'lost', reason: staleReason(name) ?? '' },
    ]
  }
  const reason = name === 'Encoding Params' ? 'states how the old sound was encoded' : staleReason(name)
  return reason === null ? [] : [{ box: item, fate: 'lost', reason }]
}

/** Removes facts about the old audio, and rewrites those that are known for the new audio. */
export function replaceOldFacts(facts: readonly OldFact[], tracks: readonly NewIsoTrack[], into: Replacements): void {
  for (const { box, fate, level } of facts) {
    if (level) continue
    const [track] = tracks
    if (fate === 'rewritten' && track?.donor.isSplice) continue
    into.set(box, fate === 'rewritten' && track ? [gaplessItem(box, track)] : [])
  }
}

function gaplessItem(item: Box, { donor }: NewIsoTrack): Buffer {
  const { packets, primingTicks } = donor
  const total = packets.tickOf(packets.count) - primingTicks
  const rest = packets.count * packets.tickOf(1) - primingTicks - total
  const hex = (value: number, digits: number) => value.toString(16).toUpperCase().padStart(digits, '0')
  const children = item.children.map((child) => {
    if (child.type !== 'data') return child.bytes ?? Buffer.alloc(0)
    const text = textOf(child).replace(GAPLESS, `$1${hex(primingTicks, 8)} ${hex(rest, 8)} ${hex(total, 16)}`)
    return makeBox('data', Buffer.concat([bodyOf(child).subarray(0, TYPE_BYTES), Buffer.from(text, 'latin1')]))
  })
  const body = Buffer.concat(children)
  return Buffer.concat([resizedHeader(item, body.length), body])
}
