import { AAC_FRAME_SAMPLES } from './adts-frames.js'
import type { AudioEncoding } from './audio-encoding.js'
import type { ContainerProfile } from './container-profile.js'
import type { FfmpegCommand, FfmpegInput } from './ffmpeg.js'
import type { PcmFormat } from './pcm.js'
import { layoutFilters, rawInputOptions } from './raw-input.js'
import type { SampleRange } from './voice-cut.js'

/**
 * Encoders that take turns at one sound. Always two, whatever the machine: the same sound gives the same bytes
 * everywhere.
 */
export const LANES = 2
/**
 * Frames of a turn: ten seconds, so that each encoder hears of all that is in a sound and spends its bits alike.
 * Measured: ten minutes of speech, noise and music at 128 kbit/s lose 0.04 dB against one encoder, within two frames
 * of a joint 0.15; turns of half a minute lose more.
 */
export const TURN_FRAMES = 470
/** Encoded before a turn and thrown away: windows, thresholds and bit reservoir have settled by then. */
const LEAD_FRAMES = 32
/** Given after a turn: its last frame reaches into the next one, and the choice of its window one further. */
const TAIL_FRAMES = 2
/** Below it nothing is won that a person would feel. */
const SHORTEST_SEC = 60

/** Muxers that take frames of ADTS for what they are. */
const TAKE_ADTS: ReadonlySet<string> = new Set(['mp4', 'mov', 'ipod', '3gp', '3g2', 'matroska', 'mpegts'])

/**
 * Whether a sound is encoded by {@link LANES} encoders in turns before it is muxed. ffmpeg's AAC encoder works in one
 * thread, and in a long film all else waits for it.
 */
export function isEncodedInTurns(
  { encoder }: AudioEncoding,
  { muxer }: ContainerProfile,
  durationSec: number | null,
): boolean {
  return encoder === 'aac' && TAKE_ADTS.has(muxer) && (durationSec ?? 0) >= SHORTEST_SEC
}

/** The samples a turn's encoder is given for it. Those of two neighbours overlap, those of one encoder never. */
export function samplesOfTurn(turn: number): SampleRange {
  const firstFrame = turn === 0 ? 0 : turn * TURN_FRAMES - 1 - LEAD_FRAMES
  return {
    startSample: firstFrame * AAC_FRAME_SAMPLES,
    endSample: ((turn + 1) * TURN_FRAMES + TAIL_FRAMES) * AAC_FRAME_SAMPLES,
  }
}

/** Frames that come out of a turn's encoder before the turn's own: its lead, and the tail of the turn before. */
export function strayFrames(turn: number): number {
  if (turn === 0) return 0
  return LEAD_FRAMES + 1 + (turn < LANES ? 0 : TAIL_FRAMES)
}

/** What each of the encoders runs with. */
export function turnsCommand(source: FfmpegInput['url'], format: PcmFormat, encoding: AudioEncoding): FfmpegCommand {
  const layout = layoutFilters(format)
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
