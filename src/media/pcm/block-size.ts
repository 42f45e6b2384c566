/** The encoders' own choice at 48 kHz. */
const BLOCK_SAMPLES: Readonly<Record<string, number>> = { flac: 4608, wavpack: 24_000 }

/**
 * The option that fixes the samples per block of a lossless codec, if its encoder leaves that open. ffmpeg 9 otherwise
 * uses the size of the first frame, which depends on the container and on the start of a part. The same audio would
 * give different and more bytes. With fewer than 16 samples there, the encoder does not even start.
 *
 * @param specifier of the stream, such as `a`
 */
export function blockSizeOptions(encoder: string, specifier: string): readonly string[] {
  const samples = BLOCK_SAMPLES[encoder]
  return samples === undefined ? [] : [`-frame_size:${specifier}`, String(samples)]
}
