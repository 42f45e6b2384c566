import type { FileHandle } from 'node:fs/promises'
import type { PrecheckError } from '../../core/errors.js'
import { readAt } from '../../core/read-at.js'
import { refusedFile } from '../refused-file.js'
import {
  type ClockReading,
  clockReadings,
  PACKET_OVERLAP_BYTES,
  packetBytesOf,
  secondsBetween,
} from './transport-clock.js'

/** A break in the clock of a file. */
type ClockJump =
  /** Parts joined without a common clock. Their times cannot be known. */
  | { readonly kind: 'back' }
  /** A gap too wide to fill with silence. */
  | { readonly kind: 'ahead'; readonly bySec: number }

/** The refusal of a file whose clock has a break, with the code of the service. @param what the file, or a track of it */
export function clockJumps(what: string, input: string, jump: ClockJump): PrecheckError {
  const how =
    jump.kind === 'back'
      ? 'jumps back, so its parts share no common time'
      : `jumps ahead by ${Math.round(jump.bySec)} s, which is too long to fill with silence`
  return refusedFile(-2, 'ERR_CLOCK_JUMPS', `The clock of ${what} ${how}.`, {
    input,
    remedies: ['Process each part separately, or remux the parts to .mkv and join them with mkvmerge first.'],
  })
}

/** Files up to this size are read completely. Longer ones are sampled at many places, at about the same cost. */
const READ_WHOLE_BYTES = 64 * 1024 * 1024
const PLACES = 512
const STEP_BYTES = 64 * 1024
/** A clock is sent at least ten times a second: at 80 Mbit/s within this range. */
const SEARCH_BYTES = 1024 * 1024
/** Remuxers are not exact to the tick. Joined parts jump back by the length of a part. */
const MOST_BACK_SEC = 0.1
/** A longer gap is not filled: ffmpeg keeps its silence in memory, up to 0.9 MB per second of stereo. */
export const MOST_AHEAD_SEC = 300
/** A place is suspicious if its clock advances this much slower per byte than usual: it hides a jump, or it is busy. */
const SUSPICIOUS = 0.6
/** The slowest suspicious places are examined again, each in 2^4 parts. */
const CLOSER_PLACES = 32
const CLOSER_HALVINGS = 4

interface PlacedReading extends ClockReading {
  readonly atByte: number
}

/**
 * Checks for breaks in the clock of a transport stream, from its packets. Files up to 64 MB are checked completely,
 * longer ones at some hundred places, and more closely in slow ones. Undefined for a file without a clock.
 */
export async function clockJump(file: FileHandle, sizeBytes: number): Promise<ClockJump | undefined> {
  const packetBytes = packetBytesOf(await readAt(file, 0, Math.min(sizeBytes, STEP_BYTES)))
  if (packetBytes === undefined) return undefined
  if (sizeBytes <= READ_WHOLE_BYTES) return jumpInWhole(file, sizeBytes, packetBytes)
  return jumpBetweenPlaces((atByte, pid) => readingAt(file, packetBytes, atByte, pid), sizeBytes)
}

async function jumpInWhole(file: FileHandle, sizeBytes: number, packetBytes: number): Promise<ClockJump | undefined> {
  const judge = new ClockJudge()
  const step = 4 * 1024 * 1024
  for (let at = 0; at < sizeBytes; at += step) {
    for (const reading of clockReadings(await readAt(file, at, step + PACKET_OVERLAP_BYTES), packetBytes)) {
      const jump = judge.take(reading)
      if (jump) return jump
    }
  }
  return undefined
}

/** Follows the first clock in the stream. One reading off the line is damage; two consistent ones are a jump. */
class ClockJudge {
  #last: ClockReading | undefined
  #beside: ClockReading | undefined

  take(reading: ClockReading): ClockJump | undefined {
    this.#last ??= reading
    if (reading.pid !== this.#last.pid) return undefined
    const jump = jumpOf(this.#last, reading)
    if (jump && this.#beside && !jumpOf(this.#beside, reading)) return jumpOf(this.#last, this.#beside)
    if (jump) this.#beside = reading
    else [this.#last, this.#beside] = [reading, undefined]
    return undefined
  }
}

type FindReading = (atByte: number, pid?: number) => Promise<PlacedReading | undefined>

async function jumpBetweenPlaces(find: FindReading, sizeBytes: number): Promise<ClockJump | undefined> {
  const readings: PlacedReading[] = []
  for (let place = 0; place < PLACES; place++) {
    const found = await find(Math.floor((place * (sizeBytes - SEARCH_BYTES)) / (PLACES - 1)), readings[0]?.pid)
    if (found) readings.push(found)
  }
  const spans = readings.slice(1).map((to, index) => {
    const from = readings[index] as PlacedReading
    return { from, to, secPerByte: secondsBetween(from, to) / Math.max(1, to.atByte - from.atByte) }
  })
  const usual = spans.map(({ secPerByte }) => secPerByte).sort((a, b) => a - b)[spans.length >> 1] ?? 0
  const slow = spans.filter(({ secPerByte }) => secPerByte < usual * SUSPICIOUS)
  const closer = slow.sort((a, b) => a.secPerByte - b.secPerByte).slice(0, CLOSER_PLACES)
  const wide = spans.filter(({ from, to }) => jumpOf(from, to) !== undefined)
  for (const { from, to } of new Set([...wide, ...closer])) {
    const jump = await jumpInside(find, from, to, CLOSER_HALVINGS)
    if (jump) return jump
  }
  return undefined
}

async function jumpInside(
  find: FindReading,
  from: PlacedReading,
  to: PlacedReading,
  halvings: number,
): Promise<ClockJump | undefined> {
  const jump = jumpOf(from, to)
  if (jump?.kind === 'back' || halvings === 0) return jump
  const middle = await find(Math.floor((from.atByte + to.atByte) / 2), from.pid)
  if (!middle || middle.atByte >= to.atByte) return jump
  return (await jumpInside(find, from, middle, halvings - 1)) ?? (await jumpInside(find, middle, to, halvings - 1))
}

/** The first clock reading after a position. */
async function readingAt(
  file: FileHandle,
  packetBytes: number,
  atByte: number,
  pid: number | undefined,
): Promise<PlacedReading | undefined> {
  for (let at = atByte; at < atByte + SEARCH_BYTES; at += STEP_BYTES) {
    const readings = clockReadings(await readAt(file, at, STEP_BYTES + PACKET_OVERLAP_BYTES), packetBytes)
    const [first, second] = readings.filter((reading) => pid === undefined || reading.pid === pid)
    // The second reading, in case the first is damaged.
    const found = first && second && jumpOf(first, second) ? second : first
    if (found) return { ...found, atByte: at }
  }
  return undefined
}

function jumpOf(from: ClockReading, to: ClockReading): ClockJump | undefined {
  const bySec = secondsBetween(from, to)
  if (bySec < -MOST_BACK_SEC) return { kind: 'back' }
  return bySec > MOST_AHEAD_SEC ? { kind: 'ahead', bySec } : undefined
}
