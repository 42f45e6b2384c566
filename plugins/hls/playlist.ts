import { PrecheckError } from '../../src/core/errors.js'

/** Bytes of a file, from {@link offset} on. */
export interface ResourceRange {
  readonly offset: number
  readonly length: number
}

/** A file, or a part of one, as a playlist names it. `line` is where its range is written, null for a whole file. */
export interface Resource {
  readonly uri: string
  readonly range: ResourceRange | null
  readonly rangeLine: number | null
}

export interface MediaSegment extends Resource {
  readonly durationSec: number
  /** Its initialization section (`#EXT-X-MAP`); null in MPEG-TS. */
  readonly map: Resource | null
  /** Goes up with each discontinuity: within one number the clock of the media runs on. */
  readonly run: number
}

/** A media playlist, with the lines that it was read from. */
export interface MediaPlaylist {
  readonly lines: readonly string[]
  readonly segments: readonly MediaSegment[]
}

/** A tag of a master playlist, and the line that names its playlist. */
export interface MasterEntry {
  readonly tag: string
  readonly attributes: ReadonlyMap<string, string>
  readonly line: number
  /** Null for a rendition that lies in the variant's own segments. */
  readonly uri: string | null
}

export interface MasterPlaylist {
  readonly lines: readonly string[]
  readonly entries: readonly MasterEntry[]
}

const MASTER_TAGS = ['EXT-X-MEDIA', 'EXT-X-STREAM-INF', 'EXT-X-I-FRAME-STREAM-INF', 'EXT-X-SESSION-DATA']
/** Tags that a finished package does not have, or that would hide the paths of its files. */
const REFUSED_TAGS: Readonly<Record<string, string>> = {
  'EXT-X-PART': 'is a live playlist with partial segments',
  'EXT-X-PRELOAD-HINT': 'is a live playlist',
  'EXT-X-SKIP': 'is an update of a live playlist',
  'EXT-X-DEFINE': 'uses variables',
}

/** @throws PrecheckError ERR_HLS_PLAYLIST, ERR_HLS_ENCRYPTED */
export function parseMaster(text: string, name: string): MasterPlaylist {
  const lines = linesOf(text, name)
  const entries = lines.flatMap((line, place): MasterEntry[] => {
    const { tag, value } = splitTag(line)
    if (tag === 'EXT-X-SESSION-KEY') throw encrypted(name)
    if (!MASTER_TAGS.includes(tag)) return []
    const attributes = parseAttributes(value)
    if (tag !== 'EXT-X-STREAM-INF') return [{ tag, attributes, line: place, uri: attributes.get('URI') ?? null }]
    const next = addressBehind(lines, place)
    if (next === undefined) throw broken(name, 'names a variant without its address')
    return [{ tag, attributes, line: place, uri: lines[next] as string }]
  })
  return { lines, entries }
}

/** Line of the address that follows the tag of a variant; undefined if the next variant comes first. */
function addressBehind(lines: readonly string[], tag: number): number | undefined {
  for (let at = tag + 1; at < lines.length; at++) {
    const line = lines[at] ?? ''
    if (line !== '' && !line.startsWith('#')) return at
    if (line.startsWith('#EXT-X-STREAM-INF')) return undefined
  }
  return undefined
}

/** Checks whether a playlist names other playlists. */
export function isMaster(text: string): boolean {
  return /^#EXT-X-STREAM-INF:/m.test(text)
}

/** @throws PrecheckError ERR_HLS_PLAYLIST, ERR_HLS_ENCRYPTED, ERR_HLS_NOT_FINISHED */
export function parseMedia(text: string, name: string): MediaPlaylist {
  const lines = linesOf(text, name)
  const segments: MediaSegment[] = []
  let map: Resource | null = null
  let run = 0
  let durationSec = Number.NaN
  let range: { line: number; text: string } | null = null
  lines.forEach((line, place) => {
    const { tag, value } = splitTag(line)
    if (tag === 'EXT-X-KEY' && parseAttributes(value).get('METHOD') !== 'NONE') throw encrypted(name)
    if (tag === 'EXT-X-GAP') throw broken(name, 'has a segment that is missing (EXT-X-GAP)')
    if (tag === 'EXT-X-DISCONTINUITY') run += 1
    if (tag === 'EXTINF') durationSec = Number.parseFloat(value)
    if (tag === 'EXT-X-BYTERANGE') range = { line: place, text: value }
    if (tag === 'EXT-X-MAP') map = mapOf(parseAttributes(value), place, name)
    if (line === '' || line.startsWith('#')) return
    if (!(durationSec >= 0)) throw broken(name, `names ${line} without its duration`)
    const bytes: ResourceRange | null = range && rangeOf(range.text, endBefore(segments, line), name)
    segments.push({ uri: line, range: bytes, rangeLine: range?.line ?? null, durationSec, map, run })
    durationSec = Number.NaN
    range = null
  })
  if (!lines.some((line) => splitTag(line).tag === 'EXT-X-ENDLIST')) {
    throw new PrecheckError('ERR_HLS_NOT_FINISHED', `${name} is not finished: it has no #EXT-X-ENDLIST.`, {
      input: name,
      remedies: ['Wait until the stream has ended and its packager has closed the playlists.'],
    })
  }
  return { lines, segments }
}

/** Every address a playlist names, in tags too. */
export function urisOf(text: string, name: string): readonly string[] {
  return linesOf(text, name).flatMap((line) => {
    if (line === '') return []
    if (!line.startsWith('#')) return [line]
    const { tag, value } = splitTag(line)
    if (tag === 'EXT-X-KEY' && parseAttributes(value).get('METHOD') !== 'NONE') throw encrypted(name)
    const uri = tag.startsWith('EXT-X-') ? parseAttributes(value).get('URI') : undefined
    return uri === undefined ? [] : [uri]
  })
}

function linesOf(text: string, name: string): readonly string[] {
  const lines = text.replace(/^\ufeff/, '').split(/\r?\n/)
  if (lines[0]?.trim() !== '#EXTM3U') throw broken(name, 'does not begin with #EXTM3U')
  for (const line of lines) {
    const reason = REFUSED_TAGS[splitTag(line).tag]
    if (reason !== undefined) throw broken(name, reason)
  }
  return lines.map((line) => line.trim())
}

function splitTag(line: string): { tag: string; value: string } {
  if (!line.startsWith('#EXT')) return { tag: '', value: '' }
  const colon = line.indexOf(':')
  return colon < 0 ? { tag: line.slice(1), value: '' } : { tag: line.slice(1, colon), value: line.slice(colon + 1) }
}

const ATTRIBUTE = /([^=,"]*)=(?:"([^"]*)"\s*|([^",]*))(?:,|$)/y

/** Reads attributes from left to right, each of them once. One of another form is skipped up to the next comma. */
function parseAttributes(value: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (let at = 0; at < value.length; ) {
    ATTRIBUTE.lastIndex = at
    const [whole, key = '', quoted, plain] = ATTRIBUTE.exec(value) ?? []
    if (whole !== undefined) found.set(key.trim(), quoted ?? plain ?? '')
    const comma = whole === undefined ? value.indexOf(',', at) : at + whole.length - 1
    at = comma < 0 ? value.length : comma + 1
  }
  return found
}

function mapOf(attributes: ReadonlyMap<string, string>, line: number, name: string): Resource {
  const uri = attributes.get('URI')
  if (uri === undefined) throw broken(name, 'has an #EXT-X-MAP without an address')
  const bytes = attributes.get('BYTERANGE')
  return bytes === undefined
    ? { uri, range: null, rangeLine: null }
    : { uri, range: rangeOf(bytes, 0, name), rangeLine: line }
}

/** `length[@offset]`; without an offset it begins where the one before it in the same file ends. */
function rangeOf(text: string, before: number, name: string): ResourceRange {
  const [, length, offset] = /^(\d+)(?:@(\d+))?$/.exec(text) ?? []
  if (length === undefined) throw broken(name, `has a byte range that is none: ${text}`)
  return { length: Number(length), offset: offset === undefined ? before : Number(offset) }
}

function endBefore(segments: readonly MediaSegment[], uri: string): number {
  const last = segments.at(-1)
  return last?.uri === uri && last.range ? last.range.offset + last.range.length : 0
}

function broken(name: string, what: string): PrecheckError {
  return new PrecheckError('ERR_HLS_PLAYLIST', `The playlist ${name} ${what}.`, {
    input: name,
    remedies: ['Package the film again as plain HLS for video on demand.'],
  })
}

function encrypted(name: string): PrecheckError {
  return new PrecheckError('ERR_HLS_ENCRYPTED', `The playlist ${name} names encrypted media.`, {
    input: name,
    remedies: ['Regenerate the package before it is encrypted.'],
  })
}
