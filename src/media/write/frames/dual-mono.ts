import { firstPackets } from '../../ffmpeg/ffprobe.js'
import type { MediaInfo } from '../../media-info.js'
import { FRAME_HEAD_BYTES } from '../pes/frame-kinds.js'
import type { MuxLoss } from '../remux/mux-losses.js'
import type { NewStream } from '../remux/plan-streams.js'

/** A recording may begin within a frame. */
const SOME_PACKETS = 3
const DUAL_CHANNEL = 2

/** True if the first bytes of a frame state that its two channels are two sounds, such as two languages. */
const IS_DUAL_MONO: Readonly<Record<string, (frame: Buffer) => boolean>> = {
  mp2: isDualMpeg,
  mp3: isDualMpeg,
  ac3: (frame) => isDolby(frame) && frame.readUInt8(6) >> 5 === 0,
  eac3: (frame) => isDolby(frame) && ((frame.readUInt8(4) >> 1) & 7) === 0,
}

/** Lists new tracks of two sounds, which every encoder of ffmpeg marks as stereo. */
export async function dualMonoLosses(media: MediaInfo, made: readonly NewStream[]): Promise<readonly MuxLoss[]> {
  const losses: MuxLoss[] = []
  for (const { input, encoding } of made) {
    const isDual = IS_DUAL_MONO[input.codec ?? '']
    // A track without a rate has no packets yet: ffprobe would read the whole file for them.
    if (!isDual || input.channels !== 2 || input.sampleRate === 0) continue
    const packets = await firstPackets(media, input.index, SOME_PACKETS)
    if (!packets.some((packet) => packet.length >= FRAME_HEAD_BYTES && isDual(packet))) continue
    losses.push({
      what: `mark of two sounds (dual mono) of audio stream ${input.index}`,
      stream: input.index,
      reason: `ffmpeg writes ${encoding.codec} as stereo, with one sound in each channel`,
    })
  }
  return losses
}

function isDualMpeg(frame: Buffer): boolean {
  return frame.readUInt16BE() >> 5 === 0x7ff && frame.readUInt8(3) >> 6 === DUAL_CHANNEL
}

function isDolby(frame: Buffer): boolean {
  return frame.readUInt16BE() === 0x0b77
}
