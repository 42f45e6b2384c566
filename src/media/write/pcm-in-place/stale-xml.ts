import { type BytePiece, inputPiece, newBytes } from '../byte-plan.js'
import { type CensusEntry, kept, lost } from '../census.js'
import type { KeptTag } from '../frames/id3-frames.js'
import { OLD_LEVEL } from '../stale-facts.js'

/**
 * Start tags of elements that state how loud the sound is. They lie in `iXML`, which repeats those of `bext`, and in the
 * Audio Definition Model of `axml` (ITU-R BS.2076).
 */
const LEVELS = new RegExp(
  '<((?:ebucore:|adm:)?(?:(?:BWF_)?(?:LOUDNESS_(?:VALUE|RANGE)|MAX_(?:TRUE_PEAK_LEVEL|MOMENTARY_LOUDNESS|' +
    String.raw`SHORT_TERM_LOUDNESS))|loudnessMetadata))(?:\s[^<>]{0,999}[^<>/])?>`,
  'g',
)

/** The content of a chunk, as long as before, with spaces in place of elements about the level of the old sound. */
export function keepXml(name: string, content: Buffer, start: number): KeptTag {
  const entries: CensusEntry[] = []
  const pieces: BytePiece[] = []
  const keep = (from: number, to: number) => {
    if (to === from) return
    entries.push(kept(name, start + from, to - from))
    pieces.push(inputPiece(start + from, start + to))
  }
  let at = 0
  for (const { path, from, to } of levelsIn(content.toString('latin1'))) {
    keep(at, from)
    entries.push(lost(`${name}/${path}`, start + from, to - from, OLD_LEVEL))
    pieces.push(newBytes(Buffer.alloc(to - from, ' ')))
    at = to
  }
  keep(at, content.length)
  return { entries, pieces, levels: [] }
}

/** Elements with a level, in file order. A hostile text may open a million, so a missing end is searched for once. */
function* levelsIn(text: string) {
  const unended = new Set<string>()
  let at = 0
  for (const { 0: tag, 1: path = '', index } of text.matchAll(LEVELS)) {
    if (index < at || unended.has(path)) continue
    const bodyStart = index + tag.length
    const end = text.indexOf(`</${path}>`, bodyStart)
    if (end < 0) unended.add(path)
    else at = end + path.length + 3
    if (end >= 0 && text.slice(bodyStart, end).trim() !== '') yield { path, from: index, to: at }
  }
}
