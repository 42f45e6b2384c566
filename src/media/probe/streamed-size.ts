/** Sizes from 2 GiB less 4 KB on, and those of a RIFF around such a chunk. */
const [SHORT, LONG] = [0x7fff_f000, 0x8000_1000]
const LAST = 0xffff_fff0
const UNKNOWN = 0xffff_ffff

/**
 * True if a writer that could not go back stated a size of RIFF: zero, about 4 GB, or about 2 GB (SoX, MPlayer, arecord).
 * The chunk then lasts to the end of the file.
 */
export function isStreamedSize(size: number): boolean {
  return size === 0 || size >= LAST || (size >= SHORT && size < LONG)
}

/**
 * Bytes of the samples of a RIFF that states so many, as ffmpeg reads them. They last to the end of the file if their writer
 * could not go back, or if a recorder lost its power.
 *
 * @param left bytes from the first sample to the end of the file
 */
export function lengthOfSamples(stated: number, left: number): number {
  const isOpen = stated === 0 || stated === UNKNOWN || (stated > left && isStreamedSize(stated))
  return isOpen ? left : stated
}
