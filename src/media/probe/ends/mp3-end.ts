import type { FileHandle } from 'node:fs/promises'
import { z } from 'zod'
import { readAt } from '../../../core/read-at.js'
import { ffprobe } from '../../ffmpeg/ffprobe.js'
import { tagBlocks } from './tag-blocks.js'

/** Encoders disagree whether the header's own frame, or one of padding, counts. */
const SPARE_FRAMES = 2
const FIRST_FRAME_BYTES = 2048
/** The name stands behind the side information of MPEG-1 or MPEG-2, with one or two channels. */
export const NAME_PLACES = [13, 21, 36]
const FRAME_SYNC = 0xffe0

const countSchema = z.object({
  streams: z.array(z.object({ nb_read_packets: z.coerce.number(), sample_rate: z.coerce.number() })),
})

/**
 * Compares an MP3 file with what its Xing, Info or VBRI header states. The frames are only counted if the bytes do not
 * suffice, because an editor of tags may have left a wrong number of bytes there. Tags at the end show that an editor cut
 * the sound, not a broken transfer.
 *
 * @returns seconds that are missing; 0 if nothing is stated
 */
export async function missingMp3Sec(path: string, file: FileHandle, sizeBytes: number): Promise<number> {
  const { tail, soundStart } = await tagBlocks(file, sizeBytes)
  const stated = statedLength(await readAt(file, soundStart, FIRST_FRAME_BYTES))
  if (tail.length > 0 || !stated || stated.frames === null) return 0
  if (stated.bytes !== null && sizeBytes - soundStart >= stated.bytes) return 0
  const args = ['-select_streams', 'a:0', '-count_packets', '-show_entries', 'stream=nb_read_packets,sample_rate']
  const [sound] = (await ffprobe(path, args, countSchema)).streams
  if (!sound || sound.sample_rate === 0) return 0
  const missing = stated.frames - sound.nb_read_packets
  return missing > SPARE_FRAMES ? (missing * samplesPerFrame(sound.sample_rate)) / sound.sample_rate : 0
}

/** Frames and bytes, from the header's own frame on. */
function statedLength(head: Buffer): { readonly frames: number | null; readonly bytes: number | null } | undefined {
  const vbri = nameAt(head, 'VBRI')
  if (vbri >= 0 && vbri + 18 <= head.length)
    return { bytes: head.readUInt32BE(vbri + 10), frames: head.readUInt32BE(vbri + 14) }
  const xing = Math.max(nameAt(head, 'Xing'), nameAt(head, 'Info'))
  if (xing < 0 || xing + 16 > head.length) return undefined
  const flags = head.readUInt32BE(xing + 4)
  const frames = (flags & 1) === 1 ? head.readUInt32BE(xing + 8) : null
  const bytes = (flags & 2) === 2 ? head.readUInt32BE(xing + (frames === null ? 8 : 12)) : null
  return { frames, bytes }
}

/** The first place where a frame has this name; -1 without one. Tags in front of the frame may hold the word too. */
function nameAt(head: Buffer, name: string): number {
  let at = head.indexOf(name)
  while (at >= 0 && !NAME_PLACES.some((place) => at >= place && head.readUInt16BE(at - place) >= FRAME_SYNC))
    at = head.indexOf(name, at + 1)
  return at
}

/** MPEG-1 has two granules in a frame; MPEG-2 and 2.5, with their low rates, have one. */
function samplesPerFrame(sampleRate: number): number {
  return sampleRate >= 32_000 ? 1152 : 576
}
