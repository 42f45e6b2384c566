/** Sizes from 2 GiB less 4 KB on, and those of a RIFF around such a chunk. */
const [SHORT, LONG] = [0x7fff_f000, 0x8000_1000]
const LAST = 0xffff_fff0

/**
 * True if a writer that could not go back stated a size of RIFF: zero, about 4 GB, or about 2 GB (SoX, MPlayer, arecord).
 * The chunk then lasts to the end of the file.
 */
export function isStreamedSize(size: number): boolean {
  return size === 0 || size >= LAST || (size >= SHORT && size < LONG)
}
