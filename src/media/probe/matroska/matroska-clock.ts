import type { FileHandle } from 'node:fs/promises'
import { readAt } from '../../../core/read-at.js'
import { bodiesIn, type Head, numberIn, readHead, readVint } from './ebml.js'
import { ID } from './ids.js'

const AUDIO = 2
const LACING = 0x06
/** The EBML head, and empty space behind it. */
const MOST_BEFORE_SEGMENT = 16
/** The head of an element, and that of the block in it. */
const HEAD_BYTES = 32
/** About ten seconds of a film. A track that has several packets in its blocks has them there. */
const MOST_BLOCKS = 300
/** Elements before and between those blocks. */
const MOST_ELEMENTS = 1000
const MAX_TRACKS_BYTES = 16 * 1024 ** 2

/** ffmpeg counts whole ms from the start of a block to a packet in it: it may come this much too early. */
const LACED_ERROR_SEC = 0.002
/** The same for each packet in front of it, if the track does not state how long they last. */
const UNSTATED_ERROR_SEC = 0.001
/** If a block states its length, ffmpeg gives each packet an equal share. Those of Vorbis last from 3 to 21 ms. */
const SHARED_ERROR_SEC = 0.045

/** The segment of a Matroska file, which holds everything else; undefined if the file has another structure. */
export async function matroskaSegment(file: FileHandle): Promise<{ start: number; head: Head } | undefined> {
  let start = 0
  for (let element = 0; element < MOST_BEFORE_SEGMENT; element++) {
    const head = readHead(await readAt(file, start, HEAD_BYTES), 0)
    if (start > 0 && head?.id === ID.Segment) return { start, head }
    if (head?.id !== (start === 0 ? ID.EBML : ID.Void) || head.length === null) return undefined
    start += head.headBytes + head.length
  }
  return undefined
}

/**
 * Most seconds by which ffmpeg states the time of a packet too early, because its block holds several. This is lacing, the
 * default of mkvmerge. 0 if the first blocks of sound hold one each. Flags of the tracks often say otherwise.
 */
export async function lacedClockErrorSec(file: FileHandle): Promise<number> {
  const segment = await matroskaSegment(file)
  const errors = new Map<number, (packets: number) => number>()
  let worstSec = 0
  let blocks = 0
  let at = segment ? segment.start + segment.head.headBytes : Number.POSITIVE_INFINITY
  for (let element = 0; element < MOST_ELEMENTS && blocks < MOST_BLOCKS; element++) {
    const bytes = Number.isFinite(at) ? await readAt(file, at, HEAD_BYTES) : Buffer.alloc(0)
    const head = readHead(bytes, 0)
    if (!head) break
    const { id, headBytes } = head
    const length = head.length ?? 0
    if (id === ID.Tracks) {
      for (const [number, errorSec] of soundTracks(
        await readAt(file, at + headBytes, Math.min(length, MAX_TRACKS_BYTES)),
      ))
        errors.set(number, errorSec)
    }
    if (id === ID.SimpleBlock || id === ID.Block) {
      blocks += 1
      worstSec = Math.max(worstSec, blockErrorSec(bytes.subarray(headBytes), errors))
    }
    // The elements inside follow.
    const isOpened = id === ID.Cluster || id === ID.BlockGroup
    at += headBytes + (isOpened ? 0 : length)
  }
  return worstSec
}

/** By the number of a track of sound: the error for a number of packets in a block. */
function soundTracks(tracks: Buffer): ReadonlyMap<number, (packets: number) => number> {
  const sound = bodiesIn(tracks, ID.TrackEntry).filter((entry) => numberIn(entry, ID.TrackType) === AUDIO)
  return new Map(sound.map((entry) => [numberIn(entry, ID.TrackNumber) ?? 0, errorOf(entry)]))
}

function errorOf(entry: Buffer): (packets: number) => number {
  // ffmpeg states a duration for Vorbis too, that of its short packets.
  if (bodiesIn(entry, ID.CodecID)[0]?.toString('latin1') === 'A_VORBIS') return () => SHARED_ERROR_SEC
  const isStated = numberIn(entry, ID.DefaultDuration) !== undefined
  return (packets) => (isStated ? LACED_ERROR_SEC : (packets - 1) * UNSTATED_ERROR_SEC)
}

/** The error of a block's last packet. @param body its track, its time, its flags and the number of packets less one */
function blockErrorSec(body: Buffer, errors: ReadonlyMap<number, (packets: number) => number>): number {
  const track = readVint(body, 0)
  const errorSec = track && errors.get(track.value)
  const flags = body[(track?.width ?? 0) + 2] ?? 0
  const packets = (body[(track?.width ?? 0) + 3] ?? 0) + 1
  return errorSec && (flags & LACING) !== 0 ? errorSec(packets) : 0
}
