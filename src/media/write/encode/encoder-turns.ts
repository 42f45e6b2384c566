import type { FfmpegCommand, FfmpegInput } from '../../ffmpeg/ffmpeg.js'
import type { PcmFormat } from '../../pcm/pcm.js'
import { rawInputOptions } from '../../pcm/raw-input.js'
import type { SampleRange } from '../../voice-cut.js'
import type { ContainerProfile } from '../container-profile.js'
import { AAC_FRAME_SAMPLES } from './adts-frames.js'
import type { AudioEncoding } from './audio-encoding.js'
import { encoderLayoutFilters } from './encoder-layout.js'

/** Number of encoders that take turns at one voice. Constant, so that a voice gives the same bytes on any machine. */
export const LANES = 2
/**
 * Frames per turn: ten seconds, so that both encoders get a similar mix of material and spend their bits alike.
 * A test holds the noise within 0.5 dB of that of one encoder, and within 1 dB at the seams. Turns of half a minute
 * lose more.
 */
export const TURN_FRAMES = 470
/** Frames encoded before a turn and discarded, until windows, thresholds and bit reservoir have settled. */
const LEAD_FRAMES = 32
/** Frames fed after a turn: its last frame overlaps the next one, and the choice of its window needs one more. */
const TAIL_FRAMES = 2
/** Shorter voices gain no noticeable time. */
const SHORTEST_SEC = 60

/** Muxers that accept ADTS frames. */
const TAKE_ADTS: ReadonlySet<string> = new Set(['mp4', 'mov', 'ipod', '3gp', '3g2', 'matroska', 'mpegts'])

/**
 * True if {@link LANES} encoders encode a voice in turns before the mux. ffmpeg's AAC encoder uses only one
 * thread. In a long file, everything else waits for it.
 */
export function isEncodedInTurns(
  { encoder }: AudioEncoding,
  { muxer }: Pick<ContainerProfile, 'muxer'>,
  durationSec: number | null,
): boolean {
  return encoder === 'aac' && TAKE_ADTS.has(muxer) && (durationSec ?? 0) >= SHORTEST_SEC
}

/** Samples that are fed for a turn. Neighbouring turns overlap, turns of one encoder do not. */
export function samplesOfTurn(turn: number): SampleRange {
  const firstFrame = turn === 0 ? 0 : turn * TURN_FRAMES - 1 - LEAD_FRAMES
  return {
    startSample: firstFrame * AAC_FRAME_SAMPLES,
    endSample: ((turn + 1) * TURN_FRAMES + TAIL_FRAMES) * AAC_FRAME_SAMPLES,
  }
}

/** Frames that an encoder gives before those of a turn: the lead and the tail of its previous turn. */
export function strayFrames(turn: number): number {
  if (turn === 0) return 0
  return LEAD_FRAMES + 1 + (turn < LANES ? 0 : TAIL_FRAMES)
}

/** Previews the commands of all encoders of a voice. */
export function turnsCommands(format: PcmFormat, encoding: AudioEncoding): readonly FfmpegCommand[] {
  return Array.from({ length: LANES }, () => turnsCommand('pipe:0', format, encoding))
}

/** Command of one encoder. */
export function turnsCommand(source: FfmpegInput['url'], format: PcmFormat, encoding: AudioEncoding): FfmpegCommand {
  const layout = encoderLayoutFilters(format, encoding)
  return {
    inputs: [{ url: source, options: rawInputOptions(format) }],
    outputs: [
      {
        url: 'pipe:1',
        options: [
          ...(layout.length > 0 ? ['-af', layout.join(',')] : []),
          ...['-c:a', encoding.encoder, ...encoding.options.map((option) => option.replace('{s}', '0'))],
          ...['-f', 'adts'],
        ],
      },
    ],
  }
}
