import type { FileHandle } from 'node:fs/promises'
import { type LevelChange, renewedText, SAME_LEVEL } from './level-text.js'

/** Reason why a statement about the level of the sound has new bytes. */
export const NEW_LEVEL = 'states how loud the new sound is'

/** Bytes of the input that state how loud the sound is. The output has others at their place, as many as before. */
export interface LevelField {
  readonly start: number
  readonly length: number
  readonly renewed: (old: Buffer, change: LevelChange) => Buffer
}

/** Statements at places of the input, or found in an output that has them at places of its own. */
export type LevelFields = readonly LevelField[] | ((part: FileHandle) => Promise<readonly LevelField[]>)

/** A statement takes fewer bytes. */
const MOST_BYTES = 256

/** A tag's value that can be renewed; null for any other. @param value in any encoding of ASCII @param start in the file */
export function levelField(name: string, value: Buffer, start: number): LevelField | null {
  const renewed = (old: Buffer, change: LevelChange) => {
    const places = placesOfText(old)
    const text = renewedText(name, textAt(old, places), change) ?? ''
    const made = Buffer.from(old)
    for (const [index, place] of places.entries()) made[place] = text.charCodeAt(index)
    return made
  }
  const text = value.length > MOST_BYTES ? '' : textAt(value, placesOfText(value))
  return renewedText(name, text, SAME_LEVEL) === null ? null : { start, length: value.length, renewed }
}

/** Places of the letters of a text: its bytes besides zeros and the mark of a byte order. */
function placesOfText(value: Buffer): readonly number[] {
  return [...value.keys()].filter((place) => ![0, 0xfe, 0xff].includes(value[place] as number))
}

function textAt(value: Buffer, places: readonly number[]): string {
  return String.fromCharCode(...places.map((place) => value[place] as number))
}

/** Units of RVA2 in a dB (ID3v2.4, section 4.11). */
const STEPS_PER_DB = 512

/** True for an RVA2 frame about an album. @param body whole */
export function isOfAlbum(body: Buffer): boolean {
  return body.toString('latin1', 0, 6).toLowerCase() === 'album\0'
}

/** The gains of an RVA2 frame for a track; null for one of an album, or of another form. @param body whole */
export function relativeVolumeField(body: Buffer, start: number): LevelField | null {
  const first = body.indexOf(0) + 1
  const places = isOfAlbum(body) || first === 0 ? [] : channelPlaces(body, first)
  if (places.length === 0) return null
  const renewed = (old: Buffer, { gainDb }: LevelChange) => {
    const made = Buffer.from(old)
    for (const at of places) {
      const steps = old.readInt16BE(at + 1) + Math.round(gainDb * STEPS_PER_DB)
      made.writeInt16BE(Math.max(-0x8000, Math.min(0x7fff, steps)), at + 1)
    }
    return made
  }
  return { start, length: body.length, renewed }
}

/** Places of the channels, which state no peaks; empty if the body has another form. */
function channelPlaces(body: Buffer, first: number): readonly number[] {
  const places: number[] = []
  for (let at = first; at < body.length; at += 4) {
    if (at + 4 > body.length || body[at + 3] !== 0) return []
    places.push(at)
  }
  return places
}
