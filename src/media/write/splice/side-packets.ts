import { open, rm } from 'node:fs/promises'
import { SourceWindow } from '../copy/source-window.js'
import { readMatroska } from '../matroska/read/matroska-file.js'
import type { TrackEntry } from '../matroska/read/track-entry.js'
import type { DonorFormat } from '../writer.js'
import { NoSplice } from './splice-job.js'

/** The side file of a part, with any codec. Times begin at a second, so that none of them is negative. */
export const PART_FORMAT: DonorFormat = {
  muxer: 'matroska',
  options: ['-output_ts_offset', '1'],
  skipSamples: 0,
  sampleCount: null,
}

/** New packets in a side file that ffmpeg wrote. */
export interface SidePackets {
  readonly entry: TrackEntry
  readonly count: number
  readonly read: (from: number, to: number) => Promise<readonly Buffer[]>
  /** Removes the side file too: many parts would otherwise fill the disk twice. */
  readonly close: () => Promise<void>
}

/** The result of a step, which closes a side file if it fails. */
export async function closedOnError<T>(close: SidePackets['close'], step: () => T | Promise<T>): Promise<T> {
  try {
    return await step()
  } catch (error) {
    await close()
    throw error
  }
}

/** Opens the only track of a side file. */
export async function openSide(path: string): Promise<SidePackets> {
  const file = await open(path, 'r')
  const close = async () => {
    await file.close()
    await rm(path, { force: true })
  }
  return closedOnError(close, async () => {
    const { size } = await file.stat()
    const { tracks, blocks } = await readMatroska(path, size)
    const [entry] = tracks
    const packets = entry && blocks.get(entry.number)
    if (!entry || !packets) throw new NoSplice('the encoder gave no packets')
    const window = new SourceWindow(file, path, size)
    const read = async (from: number, to: number) => {
      const read: Buffer[] = []
      for (let packet = from; packet < to; packet++) {
        const bytes = Buffer.allocUnsafe(packets.dataLength(packet))
        await window.read(bytes, packets.dataStart(packet))
        read.push(bytes)
      }
      return read
    }
    return { entry, count: packets.count, read, close }
  })
}
