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

/** The bibliographic code where it is another: QuickTime's list, which ffmpeg writes into .mov, knows those alone. */
export function bibliographic(language: string | null): string | undefined {
  return language === null ? undefined : BIBLIOGRAPHIC[language]
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
  return bibliographic(lower) ?? lower
}
