import type { ByteRange } from '../../../core/read-at.js'
import { lateSecOf } from '../../media-info.js'
import { ADTS_HEAD_BYTES } from '../../probe/adts-length.js'
import { firstAtLeast } from '../first-at-least.js'
import { adtsHead } from '../frames/splice-frames.js'
import { FRAME_KINDS, isWithoutSum } from '../pes/frame-kinds.js'
import type { MadeFrames } from '../pes/timed-frames.js'
import type { SpliceableTrack } from '../splice/old-packets.js'
import { PLAIN_BYTES } from '../structure/transport-pids.js'
import type { Wanted, WantedTrack } from '../writer.js'
import type { TransportSound } from './sound-packets.js'
import type { TransportFile } from './transport-file.js'

/** Codecs whose new frames do not need more room than the encoder gives them. */
const JOINED: ReadonlySet<string> = new Set(['aac', 'ac3', 'eac3'])

/** Lists the frames of a track, so that some of them can be replaced; or the reason why they cannot. */
export function spliceableSound(
  { grid }: TransportFile,
  sound: TransportSound,
  { media }: Wanted,
  { input }: WantedTrack,
): SpliceableTrack<MadeFrames> | string {
  const { frames, units } = sound
  const codec = input.codec ?? ''
  if (!JOINED.has(codec)) return `frames of ${codec} in a transport stream cannot be joined one by one`
  const isAac = codec === 'aac'
  if (isAac && !isWithoutSum(frames.form)) return 'its frames have checksums'
  if (sound.isBroken) return 'packets of the track are missing or damaged'
  if (frames.startOf(0) > 0 || frames.startOf(frames.count) < units.startOf(units.count))
    return 'it begins or ends within a frame'
  const ranges = (frame: number) => rangesIn(sound, grid, frames.startOf(frame), frames.startOf(frame + 1))
  const frameSec = (FRAME_KINDS[codec]?.samplesOf(frames.form) ?? 0) / input.sampleRate
  const startSec = lateSecOf(media, input)
  return {
    vorbis: null,
    frameHead: isAac ? adtsHead : null,
    // ffmpeg finds a time in a transport stream only by what lies around it.
    isIndexed: false,
    packets: {
      count: frames.count,
      start: (frame) => ranges(frame)[0]?.start ?? 0,
      length: (frame) => frames.startOf(frame + 1) - frames.startOf(frame),
      ranges,
      headBytes: isAac ? ADTS_HEAD_BYTES : 0,
      startSec: (frame) => startSec + frame * frameSec,
    },
    donorOf: ({ count, offsetOf }) => ({ count, startOf: offsetOf }),
  }
}

/** The places in the file of some bytes of a sound. */
export function rangesIn(
  { units, packets }: TransportSound,
  grid: TransportFile['grid'],
  from: number,
  to: number,
): readonly ByteRange[] {
  const found: ByteRange[] = []
  let unit = Math.max(0, firstAtLeast(units.count, units.startOf, from + 1) - 1)
  for (; unit < units.count && units.startOf(unit) < to; unit++) {
    let at = units.startOf(unit)
    const first = units.packetOf(unit)
    for (let packet = first; packet < units.packetOf(unit + 1) && at < to; packet++) {
      const place = packets.payloadAt(packet) + (packet === first ? units.headBytes(unit) : 0)
      const end = at + PLAIN_BYTES - place
      const [begin, stop] = [Math.max(from, at), Math.min(to, end)]
      const start = grid.first + packets.numberOf(packet) * grid.size + place
      if (stop > begin) found.push({ start: start + begin - at, length: stop - begin })
      at = end
    }
  }
  return found
}
