import type { BytePiece } from '../byte-plan.js'
import { type CensusEntry, kept, lost } from '../census.js'
import type { KeptTag } from '../frames/id3-frames.js'
import { OLD_LEVEL } from '../stale-facts.js'

/**
 * Elements that state how loud the sound is: the figures of `bext`, which iXML repeats, the loudness of iXML itself, and
 * that of the Audio Definition Model (ITU-R BS.2076) in `axml`.
 */
const LEVELS = new RegExp(
  String.raw`<((?:\w+:)?(?:(?:BWF_)?(?:LOUDNESS_(?:VALUE|RANGE)|MAX_(?:TRUE_PEAK_LEVEL|MOMENTARY_LOUDNESS|` +
    String.raw`SHORT_TERM_LOUDNESS))|loudnessMetadata))(?:\s[^>]*[^>/])?>([^]*?)</\1\s*>`,
  'g',
)

/** The content of a chunk, as long as before, with spaces in place of elements about the level of the old sound. */
export function keepXml(name: string, content: Buffer, start: number): KeptTag {
  const entries: CensusEntry[] = []
  const pieces: BytePiece[] = []
  const keep = (from: number, to: number) => {
    if (to === from) return
    entries.push(kept(name, start + from, to - from))
    pieces.push({ kind: 'input', start: start + from, length: to - from })
  }
  let at = 0
  for (const { 0: element, 1: path, 2: text, index } of content.toString('latin1').matchAll(LEVELS)) {
    if (text?.trim() === '') continue
    keep(at, index)
    entries.push(lost(`${name}/${path}`, start + index, element.length, OLD_LEVEL))
    pieces.push({ kind: 'bytes', bytes: Buffer.alloc(element.length, ' ') })
    at = index + element.length
  }
  keep(at, content.length)
  return { entries, pieces }
}
