/** ISO 639-2 has two codes for these: by terminology, and the bibliographic one. */
const BIBLIOGRAPHIC: Readonly<Record<string, string>> = {
  deu: 'ger',
  fra: 'fre',
  nld: 'dut',
  ell: 'gre',
  zho: 'chi',
  ces: 'cze',
  slk: 'slo',
  ron: 'rum',
  isl: 'ice',
  fas: 'per',
  hye: 'arm',
  eus: 'baq',
  cym: 'wel',
  sqi: 'alb',
  mkd: 'mac',
  msa: 'may',
  mya: 'bur',
  kat: 'geo',
  bod: 'tib',
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
