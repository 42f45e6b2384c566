import type { FileHandle } from 'node:fs/promises'
import { readAt } from '../../../core/read-at.js'
import { joinNeighbours, type Structure } from './structure.js'

const TAG_HEAD_BYTES = 11
/** Type, size and name of a script follow each other within these bytes. */
const NAME_BYTES = 80
/** Scripts of a recording stand at its start. Reading every tag of a long film would take as long as copying it. */
const MOST_TAGS = 50_000
const SCRIPT = 18
const METADATA = 'onMetaData'
/** The property with the places of key frames: the length of its name, the name, the mark of an object (AMF0). */
const KEY_FRAMES = Buffer.from('\0\x09keyframes\x03', 'latin1')
/** Ten hours of film have fewer. */
const MOST_METADATA_BYTES = 4 * 1024 ** 2
const [AUDIO, VIDEO] = [8, 9]
const KINDS: ReadonlyMap<number, string> = new Map([
  [AUDIO, 'audio'],
  [VIDEO, 'video'],
])
const AAC = 10
const PICTURES_WITH_SETTINGS: ReadonlySet<number> = new Set([7, 12])
/** Enhanced RTMP names the codec by four letters behind the first byte. */
const [NAMED_AUDIO, NAMED_VIDEO] = [9, 0x80]

/**
 * Lists the tags of an FLV file: `FLV`, `audio`, `video`, and scripts by their name. Metadata that change during the film
 * are named so, and so is the table of key frames in those before it. Undefined for another kind of file.
 */
export async function flvTags(file: FileHandle, sizeBytes: number): Promise<readonly Structure[] | undefined> {
  const head = await readAt(file, 0, 9)
  if (head.toString('latin1', 0, 3) !== 'FLV') return undefined
  // The size of the tag before, which is none, follows the header.
  const first = head.readUInt32BE(5) + 4
  const found: Structure[] = [{ path: 'FLV', start: 0, length: first }]
  let isPlaying = false
  for (let at = first; at + TAG_HEAD_BYTES <= sizeBytes && found.length < MOST_TAGS; ) {
    const tag = await readAt(file, at, NAME_BYTES)
    const length = Math.min(TAG_HEAD_BYTES + tag.readUIntBE(1, 3) + 4, sizeBytes - at)
    const kind = (tag[0] ?? 0) & 0x1f
    const name = kind === SCRIPT ? scriptName(tag) : null
    isPlaying ||= KINDS.has(kind) && !holdsSettings(kind, tag)
    // ffmpeg reads tags before the film alone.
    const isLate = isPlaying && name === METADATA
    const script = `script/${name}${isLate ? ' (during the film)' : ''}`
    const path = name === null ? (KINDS.get(kind) ?? `tag ${kind}`) : script
    const table = path === `script/${METADATA}` ? await tableAt(file, at, length) : length
    found.push({ path, start: at, length: table })
    if (table < length) found.push({ path: `${path}/keyframes`, start: at + table, length: length - table })
    at += length
  }
  return joinNeighbours(found)
}

/** Place of the table of key frames in a tag; its length if it has none. */
async function tableAt(file: FileHandle, start: number, length: number): Promise<number> {
  const at = (await readAt(file, start, Math.min(length, MOST_METADATA_BYTES))).indexOf(KEY_FRAMES)
  return at < 0 ? length : at
}

/** True if a tag holds no packet, but the settings of a decoder. Some servers write them before the metadata. */
function holdsSettings(kind: number, tag: Buffer): boolean {
  const [first, second] = [tag[TAG_HEAD_BYTES] ?? 0, tag[TAG_HEAD_BYTES + 1] ?? 0]
  const [high, low] = [first >> 4, first & 15]
  if (kind === AUDIO) return high === NAMED_AUDIO ? low === 0 : high === AAC && second === 0
  return (first & NAMED_VIDEO) !== 0 ? low === 0 : PICTURES_WITH_SETTINGS.has(low) && second === 0
}

/** The first value of a script is its name (AMF0): the mark 2, two bytes of length, the text. */
function scriptName(tag: Buffer): string {
  const body = tag.subarray(TAG_HEAD_BYTES)
  return body[0] === 2 && body.length >= 3 ? body.toString('utf8', 3, 3 + body.readUInt16BE(1)) : 'unnamed'
}
