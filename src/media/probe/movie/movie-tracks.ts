import type { FileHandle } from 'node:fs/promises'
import { MOST_AHEAD_SEC } from '../clock-jump.js'
import { type Edit, readEdits } from './edits.js'
import { movieTables, tableBody } from './movie-boxes.js'
import type { DurationRun } from './sample-table.js'

/** The timing of a track in an mp4 or mov. */
export interface MovieTrack {
  /** Number by which fragments refer to it; 0 if it has none. */
  readonly id: number
  /** `vide`, `soun`, `text`, … */
  readonly handler: string
  readonly ticksPerSec: number
  readonly movieTicksPerSec: number
  readonly edits: readonly Edit[]
  /** Some samples may be in fragments. */
  readonly hasFragments: boolean
  /** Runs of samples of one length, in decoding order. Empty if the samples are in fragments. */
  readonly runs: readonly DurationRun[]
  /** Samples by the table of sizes; 0 without one. */
  readonly sampleCount: number
  /** Ticks between decoding and showing the first sample. Null if samples are shown in decoding order. */
  readonly firstShift: number | null
  /** Some samples cannot be decoded without a key. */
  readonly isEncrypted: boolean
  /** The numbers that describe its Opus have their low byte first. */
  readonly hasReversedPriming: boolean
}

/** Formats of sound, pictures and text that Common Encryption, FairPlay and Audible protect. */
const ENCRYPTED: ReadonlySet<string> = new Set(['enca', 'encv', 'enct', 'encs', 'drms', 'drmi', 'aavd'])

/** The sample rate in `dOps`, behind its version, channels and pre-skip. */
const OPUS_RATE_AT = 8
/** No sound has a higher rate. The bytes of a usual one in reverse are above it. */
const HIGHEST_RATE = 1_000_000

/** Reads the tracks of an mp4 or mov from its index. Empty for any other file. */
export async function movieTracks(file: FileHandle, sizeBytes: number): Promise<readonly MovieTrack[]> {
  const tracks: Map<string, Buffer>[] = []
  let movieHead: Buffer = Buffer.alloc(0)
  let hasFragments = false
  for await (const { box, track } of movieTables(file, sizeBytes)) {
    const body = await tableBody(file, box)
    if (box.type === 'mvex') hasFragments = true
    else if (box.type === 'mvhd') movieHead = body
    else {
      tracks[track] ??= new Map()
      tracks[track].set(box.type, body)
    }
  }
  const movie = { movieTicksPerSec: numberAfterTimes(movieHead), hasFragments }
  return [...tracks.values()].flatMap((tables) => (tables ? [{ ...movie, ...trackOf(tables) }] : []))
}

/** True if packets of sound may be far apart, or overlap: samples are in fragments, or one lasts that long. */
export function mayJump({ handler, hasFragments, runs, ticksPerSec }: MovieTrack): boolean {
  if (handler !== 'soun') return false
  return hasFragments || runs.length === 0 || runs.some(({ ticks }) => ticks > MOST_AHEAD_SEC * ticksPerSec)
}

/** True if all packets of sound lie in fragments. */
export function hasSoundInFragments(tracks: readonly MovieTrack[]): boolean {
  const sound = tracks.filter(({ handler }) => handler === 'soun')
  return sound.length > 0 && sound.every(({ runs }) => runs.length === 0)
}

function trackOf(tables: ReadonlyMap<string, Buffer>): Omit<MovieTrack, 'movieTicksPerSec' | 'hasFragments'> {
  const shifts = entries(tables.get('ctts'))
  const sizes = tables.get('stsz')
  return {
    id: numberAfterTimes(tables.get('tkhd')),
    handler: tables.get('hdlr')?.toString('latin1', 8, 12) ?? '',
    ticksPerSec: numberAfterTimes(tables.get('mdhd')),
    edits: readEdits(tables.get('elst')),
    runs: entries(tables.get('stts')).map((entry) => ({ count: entry.readUInt32BE(0), ticks: entry.readUInt32BE(4) })),
    sampleCount: sizes && sizes.length >= 12 ? sizes.readUInt32BE(8) : 0,
    firstShift: shifts[0]?.readInt32BE(4) ?? null,
    isEncrypted: sampleFormats(tables.get('stsd')).some((format) => ENCRYPTED.has(format)),
    hasReversedPriming: isOpusReversed(tables.get('stsd')),
  }
}

/** The four letters of each sample description. */
function sampleFormats(list: Buffer = Buffer.alloc(0)): readonly string[] {
  const formats: string[] = []
  for (let at = 8; at + 8 <= list.length; ) {
    formats.push(list.toString('latin1', at + 4, at + 8))
    at += Math.max(8, list.readUInt32BE(at))
  }
  return formats
}

function isOpusReversed(list: Buffer = Buffer.alloc(0)): boolean {
  const box = list.subarray(Math.max(0, list.indexOf('dOps')))
  if (box.toString('latin1', 0, 4) !== 'dOps' || box.length < OPUS_RATE_AT + 4) return false
  return box.readUInt32BE(OPUS_RATE_AT) > HIGHEST_RATE && box.readUInt32LE(OPUS_RATE_AT) <= HIGHEST_RATE
}

/** The ticks of a movie or track, or the number of a track: both follow two times of 4 or 8 bytes. */
export function numberAfterTimes(head: Buffer | undefined): number {
  const at = head?.[0] === 1 ? 20 : 12
  return head && head.length >= at + 4 ? head.readUInt32BE(at) : 0
}

/** The rows of `stts` or `ctts`, after its version, flags and row count. A row has 8 bytes, as they have together. */
function entries(table: Buffer | undefined): readonly Buffer[] {
  if (!table || table.length < 8) return []
  const count = Math.min(table.readUInt32BE(4), Math.floor(table.length / 8) - 1)
  return Array.from({ length: count }, (_, row) => table.subarray(8 * (row + 1), 8 * (row + 2)))
}
