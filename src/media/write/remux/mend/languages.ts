import { open } from 'node:fs/promises'
import { isCover } from '../../../media-info.js'
import { movieTables } from '../../../probe/movie/movie-boxes.js'
import type { MuxPlan } from '../mux-plan.js'

/** The code that ffmpeg writes into a .mov for a language that the Macintosh list lacks. */
const UNSPECIFIED = 0x7fff

/** ISO 639-2 has two codes for these: by terminology, and the bibliographic one. */
const BIBLIOGRAPHIC: Readonly<Record<string, string>> = {
  ...{ deu: 'ger', fra: 'fre', nld: 'dut', ell: 'gre', zho: 'chi', ces: 'cze', slk: 'slo', ron: 'rum', isl: 'ice' },
  ...{ fas: 'per', hye: 'arm', eus: 'baq', cym: 'wel', sqi: 'alb', mkd: 'mac', msa: 'may', mya: 'bur', kat: 'geo' },
  ...{ bod: 'tib' },
}

/** ffmpeg's QuickTime list has the terminology code of these languages, and the bibliographic code of the others. */
const QUICKTIME_TERMINOLOGY = new Set(['fra', 'ces', 'slk', 'ron'])

/** The code of the same language in ffmpeg's QuickTime list; undefined if the language has only one code. */
export function quickTimeLanguage(language: string | null): string | undefined {
  const pair = Object.entries(BIBLIOGRAPHIC).find((codes) => language !== null && codes.includes(language))
  return pair && (QUICKTIME_TERMINOLOGY.has(pair[0]) ? pair[0] : pair[1])
}

/** True if two streams have the same language. Null (not stated, or not kept) matches any. */
export function sameLanguage(
  made: { readonly language: string | null },
  input: { readonly language: string | null },
): boolean {
  if (made.language === null || input.language === null) return true
  return oneCode(made.language) === oneCode(input.language)
}

function oneCode(language: string): string {
  const lower = language.toLowerCase()
  return BIBLIOGRAPHIC[lower] ?? lower
}

/**
 * Writes the languages that ffmpeg leaves out of a finished .mov. QuickTime reads any packed code of three letters,
 * but ffmpeg writes only the old list, which lacks Swedish, for example.
 */
export async function writeQuickTimeLanguages(plan: MuxPlan, partPath: string): Promise<void> {
  const languages = plan.streams
    .filter(({ fate, input }) => fate !== 'dropped' && !isCover(input))
    .map(({ input }) => input.language)
  await using file = await open(partPath, 'r+')
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
}

/** Five bits per letter, as in ISO base media. */
function packed(language: string): number {
  return [...language].reduce((code, letter) => (code << 5) | (letter.charCodeAt(0) - 0x60), 0)
}
