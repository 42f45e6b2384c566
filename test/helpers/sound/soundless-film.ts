import { readFile, truncate } from 'node:fs/promises'
import { ffmpeg, picture, tone } from '../media-factory.js'

/** Makes a film whose index is whole, but whose data are missing as a box; returns its path. */
export async function soundlessFilm(path: string): Promise<string> {
  const codecs = ['-c:v', 'libx264', '-c:a', 'pcm_s16be', '-movflags', '+faststart', '-f', 'mov']
  await ffmpeg(...picture(1), ...tone(1, 48_000, 1), ...codecs, path)
  await truncate(path, (await readFile(path)).lastIndexOf('mdat') - 4)
  return path
}
