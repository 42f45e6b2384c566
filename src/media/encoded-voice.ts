import { AAC_FRAME_SAMPLES } from './adts-frames.js'

/** A new voice that comes into the mux as AAC already, in frames of ADTS. */
export interface EncodedVoice {
  /** Samples that were encoded, without those that were left out at the beginning. */
  readonly sampleCount: number
  /** The encoder's lead-in. */
  readonly primingSamples: number
}

/**
 * Options of the input that holds it. ADTS has no clock: its frames count from zero, and every muxer rounds the
 * microseconds of an offset to the very sample.
 *
 * @param startSample of the first sample that was encoded, on the output's clock
 */
export function encodedInputOptions(
  { primingSamples }: EncodedVoice,
  startSample: number,
  sampleRate: number,
): readonly string[] {
  return [
    // Frames come by the hundred. Wherever the few that are read ahead by default run out, ffmpeg sleeps for 10 ms.
    ...['-thread_queue_size', '4096'],
    ...['-itsoffset', ((startSample - primingSamples) / sampleRate).toFixed(6)],
    ...['-f', 'aac'],
  ]
}

/** Options of the stream that it becomes. */
export function encodedStreamOptions(
  { sampleCount, primingSamples }: EncodedVoice,
  specifier: string,
): readonly string[] {
  const samples = sampleCount + primingSamples
  const last = Math.ceil(samples / AAC_FRAME_SAMPLES) - 1
  const ofLast = `DURATION*${samples - last * AAC_FRAME_SAMPLES}/${AAC_FRAME_SAMPLES}`
  return [
    // The lead-in lies before zero, where ffmpeg leaves out what is copied.
    ...[`-copypriorss:${specifier}`, '1'],
    // The last frame is not filled, which ADTS cannot say. In frames: ffmpeg names a wrong time base here.
    ...[`-bsf:${specifier}`, `setts=duration=if(eq(N\\,${last})\\,${ofLast}\\,DURATION)`],
  ]
}
