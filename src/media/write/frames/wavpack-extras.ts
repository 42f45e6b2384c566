import type { FileHandle } from 'node:fs/promises'
import { throwIfAborted } from '../../../core/abort.js'
import { MalformedFile } from '../../probe/malformed-file.js'
import { nearReader } from '../../probe/near-reader.js'
import { MAX_STRUCTURES, type Structure } from '../structure/structure.js'
import type { FrameRange } from './mpeg-frames.js'

const BLOCK_HEADER_BYTES = 32
/** Flags in the byte that names a part of a block: its length is one less, and has three bytes. */
const [ODD, LONG] = [0x40, 0x80]
/** The head of a packed WAV that has only `fmt ` and `data`. Players and `wvunpack` make it again. */
const [WAVE_HEAD, PLAIN_BYTES] = [0x21, 2 + 68]

/** Parts of blocks that the sound does not need and ffmpeg does not write, by their names without flags. */
const EXTRAS: ReadonlyMap<number, string> = new Map([
  [WAVE_HEAD, 'WavPack/header of the packed file'],
  [0x22, 'WavPack/trailer of the packed file'],
  [0x23, 'WavPack/header of the packed file'],
  [0x24, 'WavPack/trailer of the packed file'],
  [0x26, 'WavPack/MD5'],
])

/**
 * Finds what the blocks of a WavPack file hold beside its sound. This is the head and the chunks of the packed file, and the
 * checksum of its samples.
 *
 * @throws {MalformedFile} if there are too many
 */
export async function wavPackExtras(
  file: FileHandle,
  { start, end }: FrameRange,
  signal: AbortSignal | undefined,
): Promise<readonly Structure[]> {
  const extras: Structure[] = []
  const read = nearReader(file)
  for (let at = start; at + BLOCK_HEADER_BYTES <= end; ) {
    const head = await read(at, BLOCK_HEADER_BYTES)
    if (head.toString('latin1', 0, 4) !== 'wvpk') break
    const next = at + 8 + head.readUInt32LE(4)
    for (let partAt = at + BLOCK_HEADER_BYTES; partAt + 2 <= Math.min(next, end); ) {
      throwIfAborted(signal)
      const part = await read(partAt, 4)
      const name = part.readUInt8(0)
      const isLong = (name & LONG) !== 0
      if (isLong && part.length < 4) break
      const length = isLong ? 4 + 2 * part.readUIntLE(1, 3) : 2 + 2 * part.readUInt8(1)
      const kind = name & ~(ODD | LONG)
      const path = kind === WAVE_HEAD && length <= PLAIN_BYTES ? undefined : EXTRAS.get(kind)
      if (path !== undefined && partAt + length <= Math.min(next, end)) extras.push({ path, start: partAt, length })
      partAt += length
    }
    if (extras.length > MAX_STRUCTURES) throw new MalformedFile('its blocks hold too many parts')
    at = next
  }
  return extras
}
