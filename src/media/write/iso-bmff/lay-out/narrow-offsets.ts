import type { MediaInfo } from '../../../media-info.js'
import type { WantedTrack } from '../../writer.js'
import type { IsoFile } from '../read/iso-file.js'
import { offsetTables } from './offset-tables.js'
import type { OffsetTable, Sheet } from './sheet.js'

/** Most bytes of a value that ffmpeg writes without loss. */
const MOST_BYTES_PER_VALUE = 8
/** Bits a second of lossy sound with an unknown bit rate, for each channel. */
const MOST_BIT_RATE = 640_000
/** Encoders may exceed their bit rate, and the index grows with the packets. */
const SLACK = { factor: 1.5, bytes: 1_000_000 }

/**
 * The reason why a table of 32-bit offsets might have no room for those of the output; undefined if all have. Tables of
 * chunks do not count, because they can be made wider.
 */
export function narrowOffsets(
  file: IsoFile,
  tracks: readonly WantedTrack[],
  { durationSec }: MediaInfo,
): string | undefined {
  const growth = tracks.reduce((sum, track) => sum + mostBytes(track, durationSec ?? 0), 0)
  const later = (offset: number) => offset + growth
  const sheet: Sheet = { tracks: [], runStart: () => 0, boxStart: later, mapped: later }
  const narrow = offsetTables(file, [], new Map(), new Set()).find((table) => isNarrow(table, sheet))
  return narrow && `the box ${narrow.box.type} may have no room for the new offsets`
}

function mostBytes({ input, encoding, channels }: WantedTrack, sec: number): number {
  const bytesPerSec = encoding.lossless
    ? input.sampleRate * channels * MOST_BYTES_PER_VALUE
    : (encoding.bitRate ?? MOST_BIT_RATE * channels) / 8
  return Math.round(SLACK.factor * bytesPerSec * sec) + SLACK.bytes
}

function isNarrow({ box, fill }: OffsetTable, sheet: Sheet): boolean {
  if (box.type === 'stco') return false
  try {
    return !fill(sheet)
  } catch (error) {
    // A number does not fit its field.
    if (error instanceof RangeError) return true
    throw error
  }
}
