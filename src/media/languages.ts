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

/** Of these QuickTime's list, which ffmpeg writes into .mov, has the code by terminology; of the others the other. */
const QUICKTIME_TERMINOLOGY = new Set(['fra', 'ces', 'slk', 'ron'])

/** The code of the same language that is in QuickTime's list; undefined where it has one code alone. */
export function quickTimeLanguage(language: string | null): string | undefined {
  const pair = Object.entries(BIBLIOGRAPHIC).find((codes) => language !== null && codes.includes(language))
  return pair && (QUICKTIME_TERMINOLOGY.has(pair[0]) ? pair[0] : pair[1])
}

/** Whether two streams are in one language; null (a container that keeps none, or none said) goes with any. */
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
