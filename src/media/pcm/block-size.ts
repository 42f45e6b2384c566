/** The encoders' own choice at 48 kHz. */
const BLOCK_SAMPLES: Readonly<Record<string, number>> = { flac: 4608, wavpack: 24_000 }

/**
 * The option that fixes the samples per block of a lossless codec, if its encoder leaves that open. Otherwise ffmpeg 9 uses the size of the first frame, which depends on the container and the start of a part. The same audio would give
 * other bytes, and an encoder with fewer than 16 samples there does not even start.
 *
 * @param specifier of the stream, such as `a`
 */
export function blockSizeOptions(encoder: string, specifier: string): readonly string[] {
  const samples = BLOCK_SAMPLES[encoder]
  return samples === undefined ? [] : [`-frame_size:${specifier}`, String(samples)]
}
