import { ID } from '../../../probe/matroska/ids.js'
import { staleReason } from '../../stale-facts.js'
import { childOf, childrenOf, type Element, textIn, voidLike } from '../read/element.js'
import { makeElement } from '../read/make-ebml.js'
import { elementsIn, type MatroskaFile } from '../read/matroska-file.js'
import { uidOf } from '../read/track-entry.js'
import type { VoiceTrack } from '../voice-track.js'
import type { NewMatroskaTrack } from './new-matroska-track.js'
import type { Rewrite } from './rewrite.js'

/** A tag that states something of the old sound of a track. */
interface StaleTag {
  readonly element: Element
  readonly name: string
  /** Place among the voices. */
  readonly voice: number
  readonly fate: 'rewritten' | 'lost'
  readonly reason: string
  /** True beside statistics of mkvmerge, which count a duration from the first packet of the track. */
  readonly countsFromTrack: boolean
}

const COUNTED = /^(BPS|DURATION|NUMBER_OF_FRAMES|NUMBER_OF_BYTES)$/
const SETTINGS = /^ENCODER_(SETTINGS|OPTIONS)$/

/** Finds the tags of the replaced tracks that new packets make wrong. */
export function staleTags(file: MatroskaFile, voices: readonly VoiceTrack[]): readonly StaleTag[] {
  const tags = elementsIn(file, ID.Tags).flatMap((element) => childrenOf(element, ID.Tag))
  return tags.flatMap((tag) => {
    const voice = voices.findIndex(({ track }) => describes(file, tag, track.uid))
    if (voice < 0) return []
    const isWhole = childrenOf(childOf(tag, ID.Targets), ID.TagTrackUID).length === 0
    const simple = childrenOf(tag, ID.SimpleTag)
    const countsFromTrack = simple.some((element) => textIn(element, ID.TagName) === '_STATISTICS_TAGS')
    return simple.flatMap((element): readonly StaleTag[] => {
      const name = textIn(element, ID.TagName)
      const fact = staleFact(name, isWhole)
      return fact ? [{ element, name, voice, countsFromTrack, ...fact }] : []
    })
  })
}

function staleFact(name: string, isOfWholeFile: boolean): Pick<StaleTag, 'fate' | 'reason'> | undefined {
  const reason = staleReason(name)
  if (reason !== null) return { fate: 'lost', reason }
  if (isOfWholeFile) return undefined
  if (COUNTED.test(name)) return { fate: 'rewritten', reason: 'counted from the new packets' }
  if (name === 'ENCODER') return { fate: 'rewritten', reason: 'names the new encoder' }
  return SETTINGS.test(name) ? { fate: 'lost', reason: 'states how the old sound was encoded' } : undefined
}

/** True if a tag is of a track, or of a whole file without another track. */
function describes({ tracks }: MatroskaFile, tag: Element, uid: string): boolean {
  const targets = childOf(tag, ID.Targets)
  const uids = childrenOf(targets, ID.TagTrackUID).map(uidOf)
  if (uids.length > 0) return uids.length === 1 && uids[0] === uid
  const others = [ID.TagEditionUID, ID.TagChapterUID, ID.TagAttachmentUID]
  return tracks.length === 1 && !others.some((id) => childOf(targets, id))
}

/** Counts the tags again, and leaves empty space for those that are lost. */
export function replaceStaleTags(
  stale: readonly StaleTag[],
  tracks: readonly NewMatroskaTrack[],
  tickNs: number,
  into: Rewrite,
) {
  for (const tag of stale) {
    const text = childOf(tag.element, ID.TagString)
    const track = tracks[tag.voice]
    if (tag.fate === 'lost') into.replace(tag.element, voidLike(tag.element))
    else if (text && track) {
      const value = Buffer.from(newText(tag, track, tickNs) ?? text.body)
      if (!value.equals(text.body)) into.replace(text, makeElement(ID.TagString, value, text.sizeWidth))
    }
  }
}

/** Undefined if the fact stays. */
function newText({ name, countsFromTrack }: StaleTag, track: NewMatroskaTrack, tickNs: number): string | undefined {
  const { donor, count } = track
  if (donor.encoder === null && !/^(BPS|NUMBER_OF_BYTES)$/.test(name)) return undefined
  const firstSec = (track.tickOf(0) * tickNs) / 1e9
  const lengthSec = donor.startSec(count)
  switch (name) {
    case 'BPS':
      return String(lengthSec > 0 ? Math.round((8 * donor.bytes) / lengthSec) : 0)
    case 'NUMBER_OF_FRAMES':
      return String(count)
    case 'NUMBER_OF_BYTES':
      return String(donor.bytes)
    case 'DURATION':
      return clockText(countsFromTrack ? lengthSec : firstSec + lengthSec)
    default:
      return `Lavc ${donor.encoder}`
  }
}

/** `00:01:02.345000000`, as mkvmerge and ffmpeg write it. */
function clockText(sec: number): string {
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0')
  const nanoseconds = String(Math.round((sec % 1) * 1000) * 1_000_000).padStart(9, '0')
  return `${two(sec / 3600)}:${two((sec / 60) % 60)}:${two(sec % 60)}.${nanoseconds}`
}
