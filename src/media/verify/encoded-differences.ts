import { BYTES_BEFORE } from '../write/frames/elementary.js'
import { MOST_OFF_SEC } from '../write/pes/clock-fault.js'
import type { MuxResult } from '../write/remux/mux.js'
import { newStreams } from '../write/remux/mux-command.js'
import type { MuxPlan } from '../write/remux/mux-plan.js'
import { type PacketTimesByIndex, SIZE_UNIT, type StreamTimes } from '../write/remux/packet-times.js'
import type { PacketHashes } from '../write/remux/stream-hash.js'
import type { Writing } from '../write/writing.js'

/** Names the new tracks whose packets are not those that the encoder wrote, in their order and at their times. */
export function encodedDifferences(
  plan: MuxPlan,
  result: Pick<MuxResult, 'voices'>,
  { packetHashes, packetTimes }: { readonly packetHashes: PacketHashes; readonly packetTimes: PacketTimesByIndex },
): readonly string[] {
  const { writing, media } = plan
  if (writing.kind === 'remux') return []
  return newStreams(plan).flatMap(({ input, encoding }, place) => {
    const encoded = result.voices.find(({ audioIndex }) => audioIndex === input.audioIndex)?.encoded
    if (!encoded) return []
    const name = `audio track ${input.audioIndex}`
    if (encoded.kind === 'samples') {
      return encoded.hash === packetHashes.get(input.index) ? [] : [`the samples of ${name}`]
    }
    const is = packetTimes.get(input.index)
    const shift = is && shiftOf(encoded.packets, is, endsOf(writing, place, readsAllPackets(writing, result)))
    if (!is || shift === undefined) return [`the packets of ${name}`]
    const isOgg = OGG_MUXER.test(writing.donors[place]?.muxer ?? '')
    const statesCoding = CODING_WRITERS.has(writing.writer) && CODING_CODECS.has(encoding.codec) && !isOgg
    if (statesCoding && encoded.packets.coding !== is.coding) return [`the decoder configuration of ${name}`]
    const clockErrorSec = OWN_TIMES.get(writing.writer)
    const isSame =
      clockErrorSec === undefined ||
      keepsTimes(encoded.packets, is, { shift, errorSec: clockErrorSec + (media.clockErrorSec ?? 0) })
    return isSame ? [] : [`the times of ${name}`]
  })
}

/**
 * Writers and codecs of which an output has the decoder configuration as the encoder stated it. Others keep parts of the
 * old. In Ogg, the output also states the number of samples.
 */
const CODING_WRITERS: ReadonlySet<string> = new Set(['iso-bmff', 'matroska', 'avi', 'chunks', 'frames'])
const CODING_CODECS: ReadonlySet<string> = new Set(['aac', 'alac', 'flac'])

const OGG_MUXER = /^(ogg|opus)$/
/** Frames that state their size, so that ffmpeg reads no other bytes as parts of them. */
const SIZED_MUXERS: ReadonlySet<string> = new Set(['wv', 'tta'])

type Bytes = Writing & { readonly kind: 'bytes' }

/** By how many packets the two readings may differ at their ends. */
interface Ends {
  /** Packets that only the output has before the others, and behind them. */
  readonly before: number
  readonly behind: number
  /** First packets that only the side file has. */
  readonly priming: number
  /** First packets of the side file that the output may have in one with old bytes before them. */
  readonly joined: number
  /** Last packets of the side file that may be others in the output, and how many of them it may lack. */
  readonly others: number
  readonly missing: number
}

/** Packets of the longest priming. Those that would begin before the old ones are left out, or begin with them. */
const LEAD_IN = 4
/** Each packet has a place of its own, and ffmpeg reads all. */
const EXACT: Ends = { before: 0, behind: 0, priming: 0, joined: 0, others: 0, missing: 0 }
/** Fragments leave out priming. */
const MOVIE: Ends = { ...EXACT, priming: LEAD_IN }
/** An edit list hides a packet, or not, by the rounding of its clock. */
const EDITED: Ends = { ...EXACT, before: 2, behind: 2, priming: LEAD_IN, others: 4, missing: 4 }
/**
 * ffmpeg divides such bytes into frames, and takes others around them for frames. A recording may begin inside a frame of
 * MPEG audio, whose rest ffmpeg reads as one packet with the first new frame.
 */
const BARE: Ends = { before: 8, behind: Number.POSITIVE_INFINITY, priming: 0, joined: 1, others: 2, missing: 0 }
/** Frames between tags, which ffmpeg may take for frames or for the end of the last one. */
const TAGGED: Ends = { ...BARE, joined: 0, others: 1 }
/** The input may end in a frame, which has no place for a whole one. */
const UNITS: Ends = { ...BARE, missing: 1 }
/** The encoder may end with a packet more than there are places. */
const MP3_UNITS: Ends = { ...BARE, missing: 2 }

function endsOf({ writer, donors, census }: Bytes, place: number, hasAllPackets: boolean): Ends {
  if (writer === 'iso-bmff') return hasAllPackets ? MOVIE : EDITED
  const muxer = donors[place]?.muxer ?? ''
  if (writer === 'transport' || writer === 'program') return muxer === 'mp3' ? MP3_UNITS : UNITS
  if (writer !== 'frames' || OGG_MUXER.test(muxer) || SIZED_MUXERS.has(muxer)) return EXACT
  const beside = [...census].filter(({ path, fate }) => path !== 'frames' && fate !== 'lost')
  if (beside.some(({ path }) => path === BYTES_BEFORE)) return { ...TAGGED, joined: 1 }
  return beside.length > 0 ? TAGGED : EXACT
}

/** Place of a packet in the side file less its place in the output; undefined if they are not the same packets. */
function shiftOf(
  { contents: was }: StreamTimes,
  { contents: is }: StreamTimes,
  { before, behind, priming, joined, others, missing }: Ends,
): number | undefined {
  for (let early = 0; early <= before; early++) {
    for (let late = 0; late <= (early === 0 ? priming : joined); late++) {
      // Other bytes of the same length are a damaged packet.
      if (late > 0 && early > 0 && sizeOf(is[early - 1]) <= sizeOf(was[0])) continue
      let same = 0
      while (late + same < was.length && was[late + same] === is[early + same]) same++
      const [left, more] = [was.length - late - same, is.length - early - same]
      if (left <= others && more >= left - missing && more <= behind) return late - early
    }
  }
  return undefined
}

const sizeOf = (content = 0): number => Math.floor(content / SIZE_UNIT)

/** Writers that state the time of each packet, or of a few; with the error in seconds that a clock may have. */
const OWN_TIMES: ReadonlyMap<string, number> = new Map([
  ...(['iso-bmff', 'matroska'] as const).map((writer) => [writer, 0] as const),
  // Two units may be off in opposite directions. Those of a program stream keep the times of the input.
  ['transport', 2 * MOST_OFF_SEC],
])

/** True if all packets behind the priming keep their times, within a tick of each clock. */
function keepsTimes(
  was: StreamTimes,
  is: StreamTimes,
  { shift, errorSec }: { readonly shift: number; readonly errorSec: number },
): boolean {
  const toleranceSec = 1.01 * (was.tickSec + is.tickSec) + errorSec
  let movedSec: number | undefined
  for (let place = Math.max(0, -shift) + LEAD_IN; place < is.pts.length && place + shift < was.pts.length; place++) {
    const sec = (is.pts[place] as number) * is.tickSec - (was.pts[place + shift] as number) * was.tickSec
    if (Number.isNaN(sec)) continue
    movedSec ??= sec
    if (Math.abs(sec - movedSec) > toleranceSec) return false
  }
  return true
}

/** True if the new packets of an output are read without its edit lists. Packets that stayed are read as in the input. */
export function readsAllPackets(writing: MuxPlan['writing'], { voices }: Pick<MuxResult, 'voices'>): boolean {
  const isMovie = writing.kind === 'bytes' && writing.writer === 'iso-bmff'
  return isMovie && voices.every(({ splice }) => splice?.kind !== 'spliced')
}
