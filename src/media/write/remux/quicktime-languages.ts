import { open } from 'node:fs/promises'
import { movieTables } from '../../probe/movie-boxes.js'
import { writtenStreams } from './mux-command.js'
import type { MuxPlan } from './mux-plan.js'

/** The code that ffmpeg writes into a .mov for a language that the Macintosh list lacks. */
const UNSPECIFIED = 0x7fff

/**
 * Writes the languages that ffmpeg leaves out of a finished .mov. QuickTime reads any packed code of three letters,
 * but ffmpeg writes only the old list, which lacks Swedish, for example.
 */
export async function writeQuickTimeLanguages(plan: MuxPlan, partPath: string): Promise<void> {
  const languages = writtenStreams(plan)
    .filter(({ input }) => !(input.kind === 'video' && input.isCover))
    .map(({ input }) => input.language)
  const file = await open(partPath, 'r+')
  try {
    for await (const { box, track } of movieTables(file, (await file.stat()).size)) {
      const language = languages[track]
      if (box.type !== 'mdhd' || !language || !/^[a-z]{3}$/.test(language)) continue
      const { buffer } = await file.read(Buffer.alloc(34), 0, 34, box.bodyAt)
      // After times of 4 or 8 bytes.
      const at = buffer[0] === 1 ? 32 : 20
      if (buffer.readUInt16BE(at) !== UNSPECIFIED) continue
      buffer.writeUInt16BE(packed(language), at)
      await file.write(buffer, at, 2, box.bodyAt + at)
    }
  } finally {
    await file.close()
  }
}

/** Five bits per letter, as in ISO base media. */
function packed(language: string): number {
  return [...language].reduce((code, letter) => (code << 5) | (letter.charCodeAt(0) - 0x60), 0)
}
