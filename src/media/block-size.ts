/** What the encoders choose by themselves at 48 kHz. */
const BLOCK_SAMPLES: Readonly<Record<string, number>> = { flac: 4608, wavpack: 24_000 }

/**
 * The option that fixes how many samples a block of a lossless codec has, where its encoder leaves that open. ffmpeg 9
 * otherwise takes what the first frame happens to have, which depends on the container and on where a part begins:
 * the same sound gives other and more bytes, and with fewer than 16 samples there the encoder does not start at all.
 *
 * @param specifier of the stream, e.g. `a`
 */
export function blockSizeOptions(encoder: string, specifier: string): readonly string[] {
  const samples = BLOCK_SAMPLES[encoder]
  return samples === undefined ? [] : [`-frame_size:${specifier}`, String(samples)]
}
