import { AAC_FRAME_SAMPLES } from './adts-frames.js'

/** A new voice that was encoded to AAC (ADTS frames) before the mux. */
export interface EncodedVoice {
  /** Encoded samples, without those skipped at the beginning. */
  readonly sampleCount: number
  /** The encoder's priming. */
  readonly primingSamples: number
}

/**
 * Options of its ffmpeg input. ADTS has no clock: its frames count from zero, and every muxer rounds the microseconds
 * of an offset to the exact sample.
 *
 * @param startSample first encoded sample, on the output's clock
 */
export function encodedInputOptions(
  { primingSamples }: EncodedVoice,
  startSample: number,
  sampleRate: number,
): readonly string[] {
  return [
    // Frames arrive in hundreds. With the small default queue, ffmpeg sleeps for 10 ms each time it is empty.
    ...['-thread_queue_size', '4096'],
    ...['-itsoffset', ((startSample - primingSamples) / sampleRate).toFixed(6)],
    ...['-f', 'aac'],
  ]
}

/** Options of its output stream. */
export function encodedStreamOptions(
  { sampleCount, primingSamples }: EncodedVoice,
  specifier: string,
): readonly string[] {
  const samples = sampleCount + primingSamples
  const last = Math.ceil(samples / AAC_FRAME_SAMPLES) - 1
  const ofLast = `DURATION*${samples - last * AAC_FRAME_SAMPLES}/${AAC_FRAME_SAMPLES}`
  return [
    // The priming lies before zero, and ffmpeg drops copied packets there by default.
    ...[`-copypriorss:${specifier}`, '1'],
    // The last frame is partial, which ADTS cannot state. Counted in frames, because ffmpeg has a wrong time base here.
    ...[`-bsf:${specifier}`, `setts=duration=if(eq(N\\,${last})\\,${ofLast}\\,DURATION)`],
  ]
}
