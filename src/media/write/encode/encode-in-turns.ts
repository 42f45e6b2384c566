import { Readable } from 'node:stream'
import { linkedAbort } from '../../../core/abort.js'
import { ffmpegArguments } from '../../ffmpeg/ffmpeg.js'
import { frameBytes, type PcmStream } from '../../pcm/pcm.js'
import { slicePcm } from '../../pcm/pcm-streams.js'
import type { AudioEncoding } from './audio-encoding.js'
import type { EncodedVoice } from './encoded-voice.js'
import { EncoderLane } from './encoder-lane.js'
import { encoderPriming } from './encoder-priming.js'
import { LANES, samplesOfTurn, strayFrames, TURN_FRAMES, turnsCommands } from './encoder-turns.js'

/** A voice as frames of AAC. */
export interface EncodedBeforeMux {
  readonly encoded: EncodedVoice
  readonly bytes: Readable
  /** Exact arguments of the encoders. */
  readonly runs: readonly (readonly string[])[]
}

/** Samples of a voice as {@link encodeInTurns} gives them, with what a mux needs to know of them. */
export async function encodedBeforeMux(
  voice: PcmStream,
  { skipSamples, sampleCount }: { readonly skipSamples: number; readonly sampleCount: number },
  encoding: AudioEncoding,
  signal: AbortSignal | undefined,
): Promise<EncodedBeforeMux> {
  const { format } = voice
  return {
    encoded: { sampleCount, primingSamples: await encoderPriming(encoding, format, signal) },
    bytes: encodeInTurns(slicePcm(voice, skipSamples, sampleCount), encoding, signal),
    runs: turnsCommands(format, encoding).map(ffmpegArguments),
  }
}

/**
 * Encodes a voice to AAC with two parallel encoders that alternate in turns of ten seconds. Each turn has a lead that
 * is discarded, so that its frames fit those of the previous turn. Reads the voice once, in constant memory.
 *
 * @returns ADTS with the number and places of frames that one encoder would give; destroyed with the error of the voice
 *   or of an encoder
 */
export function encodeInTurns(voice: PcmStream, encoding: AudioEncoding, signal?: AbortSignal): Readable {
  const { controller, release } = linkedAbort(signal)
  const frames = Readable.from(turns(voice, encoding, controller.signal), { objectMode: false, highWaterMark: 1 << 18 })
  return frames.once('close', () => {
    release()
    controller.abort()
  })
}

async function* turns(voice: PcmStream, encoding: AudioEncoding, signal: AbortSignal): AsyncGenerator<Buffer> {
  const lanes = Array.from({ length: LANES }, () => new EncoderLane(voice.format, encoding, signal))
  const feeding = feed(voice, lanes)
  let isFed = false
  try {
    for (let turn = 0; ; turn++) {
      const lane = laneOf(lanes, turn)
      const strays = strayFrames(turn)
      while (lane.held < strays + TURN_FRAMES && !isFed) isFed = (await feeding.next()).done === true
      if (isFed) await lane.ended
      const own = lane.take(strays + TURN_FRAMES).slice(strays)
      if (own.length > 0) yield Buffer.concat(own)
      if (own.length < TURN_FRAMES) return
    }
  } finally {
    await feeding.return()
  }
}

/** Feeds the samples to the encoders of their turns; yields after each turn. */
async function* feed(voice: PcmStream, lanes: readonly EncoderLane[]): AsyncGenerator<void, void, void> {
  const bytes = frameBytes(voice.format)
  let oldest = 0
  let at = 0
  for await (const buffer of voice.buffers()) {
    const end = at + buffer.length / bytes
    for (let turn = oldest; samplesOfTurn(turn).startSample < end; turn++) {
      const { startSample, endSample } = samplesOfTurn(turn)
      const part = buffer.subarray(Math.max(0, startSample - at) * bytes, (Math.min(end, endSample) - at) * bytes)
      await laneOf(lanes, turn).write(part)
    }
    at = end
    for (; samplesOfTurn(oldest).endSample <= at; oldest++) yield
  }
  for (const lane of lanes) lane.end()
}

function laneOf(lanes: readonly EncoderLane[], turn: number): EncoderLane {
  return lanes[turn % lanes.length] as EncoderLane
}
