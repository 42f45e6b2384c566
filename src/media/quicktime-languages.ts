import { open } from 'node:fs/promises'
import { movieTables } from './movie-boxes.js'
import { writtenStreams } from './mux-command.js'
import type { MuxPlan } from './mux-plan.js'

/** What ffmpeg writes into a .mov for a language that is not in the list of the Macintosh. */
const UNSPECIFIED = 0x7fff

/**
 * Writes the languages that ffmpeg leaves out of a finished .mov: QuickTime reads any code of three letters, packed,
 * but ffmpeg knows only the old list there (which has no Swedish, for one).
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
      // Behind times of 4 or 8 bytes.
      const at = buffer[0] === 1 ? 32 : 20
      if (buffer.readUInt16BE(at) !== UNSPECIFIED) continue
      buffer.writeUInt16BE(packed(language), at)
      await file.write(buffer, at, 2, box.bodyAt + at)
    }
  } finally {
    await file.close()
  }
}

/** Five bits a letter, as ISO base media have it. */
function packed(language: string): number {
  return [...language].reduce((code, letter) => (code << 5) | (letter.charCodeAt(0) - 0x60), 0)
}
