import type { FileHandle } from 'node:fs/promises'
import { afterId3 } from '../id3-length.js'
import { nearReader } from '../near-reader.js'

const WAVPACK_HEADER_BYTES = 32
const TTA_HEADER_BYTES = 22
/** More than half a day at 192 kHz: a damaged header may state more. */
const MOST_TTA_FRAMES = 65_536

/**
 * Compares the last whole block of a WavPack file with the samples that its first block states.
 *
 * @returns samples that are missing; 0 if no number is stated
 */
export async function missingWavPackSamples(file: FileHandle, sizeBytes: number): Promise<number> {
  const read = nearReader(file)
  let [stated, end] = [0, 0]
  for (let at = await afterId3(file, sizeBytes); at + WAVPACK_HEADER_BYTES <= sizeBytes; ) {
    const head = await read(at, WAVPACK_HEADER_BYTES)
    if (head.toString('latin1', 0, 4) !== 'wvpk') break
    const next = at + 8 + head.readUInt32LE(4)
    if (next > sizeBytes) break
    const samples = head.readUInt32LE(20)
    if (samples > 0) {
      const first = head.readUInt32LE(16)
      // A file from a pipe states no number. Numbers above 32 bits have a byte of their own.
      if (end === 0) stated = head.readUInt16LE(10) > 0 ? 0 : head.readUInt32LE(12)
      end = first + samples
    }
    at = next
  }
  return end === 0 || stated === 0xffff_ffff ? 0 : Math.max(0, stated - end)
}

/** True Audio: the sum of its table of frames. */
export async function endOfTta(file: FileHandle, sizeBytes: number): Promise<number> {
  const start = await afterId3(file, sizeBytes)
  const read = nearReader(file)
  const head = await read(start, TTA_HEADER_BYTES)
  if (head.length < TTA_HEADER_BYTES || head.toString('latin1', 0, 4) !== 'TTA1') return 0
  const frames = Math.ceil(head.readUInt32LE(14) / Math.floor((256 * head.readUInt32LE(10)) / 245))
  if (!(frames <= MOST_TTA_FRAMES)) return 0
  const tableAt = start + TTA_HEADER_BYTES
  let end = tableAt + 4 * frames + 4
  for (let frame = 0; frame < frames && end <= sizeBytes; frame++)
    end += (await read(tableAt + 4 * frame, 4)).readUInt32LE(0)
  return end
}
