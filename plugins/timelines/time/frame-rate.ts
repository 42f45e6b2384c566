import { decimal, type Rational, rational, toNumber } from './rational.js'

/** Whole rates whose neighbours 1000/1001 as fast are what television calls by their decimals. */
const NTSC_NOMINALS = [24, 30, 48, 60, 120]

/**
 * The exact rate that a decimal stands for: `23.976`, `23.98` and `23.976023976` are 24000/1001, as that itself is.
 *
 * @returns undefined if the text is not a positive number or ratio
 */
export function frameRate(text: string): Rational | undefined {
  const exact = decimal(text) ?? ratio(text)
  if (!exact || exact.numerator <= 0n) return undefined
  const value = toNumber(exact)
  // Decimals of broadcast rates are given with two places or more.
  const ntsc = NTSC_NOMINALS.find((whole) => Math.abs(value - (whole * 1000) / 1001) < 0.006)
  return ntsc === undefined ? exact : rational(ntsc * 1000, 1001)
}

/** As ffprobe and FCPXML write it: `30000/1001`; undefined for anything else. */
export function ratio(text: string): Rational | undefined {
  const [, numerator, denominator = '1'] = /^(\d{1,30})(?:\/(\d{1,30}))?$/.exec(text.trim()) ?? []
  if (numerator === undefined || BigInt(denominator) === 0n) return undefined
  return rational(BigInt(numerator), BigInt(denominator))
}

/** Speeds and labels are in whole frames a second even if the rate is 1000/1001 of that. */
export function nominal(rate: Rational): number {
  return Math.round(toNumber(rate))
}
