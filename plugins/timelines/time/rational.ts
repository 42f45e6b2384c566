/**
 * An exact number of seconds (or any ratio) in lowest terms, `denominator > 0`. Frame rates such as 30000/1001 have
 * no finite decimals: in floating point, positions drift by samples within an hour.
 */
export interface Rational {
  readonly numerator: bigint
  readonly denominator: bigint
}

/** A ratio of whole numbers. @throws {RangeError} for a denominator of 0 */
export function rational(numerator: bigint | number, denominator: bigint | number = 1n): Rational {
  const [n, d] = [BigInt(numerator), BigInt(denominator)]
  if (d === 0n) throw new RangeError('a ratio over 0')
  const divisor = gcd(n < 0n ? -n : n, d < 0n ? -d : d) || 1n
  const sign = d < 0n ? -1n : 1n
  return { numerator: (sign * n) / divisor, denominator: (sign * d) / divisor }
}

export const ZERO = rational(0)
export const ONE = rational(1)
/** Seconds that are longer than any film or timeline. */
export const FOREVER: Rational = rational(10n ** 9n)

export function add(a: Rational, b: Rational): Rational {
  return rational(a.numerator * b.denominator + b.numerator * a.denominator, a.denominator * b.denominator)
}

export function subtract(a: Rational, b: Rational): Rational {
  return add(a, negate(b))
}

export function multiply(a: Rational, b: Rational): Rational {
  return rational(a.numerator * b.numerator, a.denominator * b.denominator)
}

/** @throws {RangeError} if `b` is 0 */
export function divide(a: Rational, b: Rational): Rational {
  return rational(a.numerator * b.denominator, a.denominator * b.numerator)
}

export function negate(a: Rational): Rational {
  return { numerator: -a.numerator, denominator: a.denominator }
}

export function absolute(a: Rational): Rational {
  return a.numerator < 0n ? negate(a) : a
}

/** Negative if `a` is the smaller, 0 if they are equal. */
export function compare(a: Rational, b: Rational): number {
  const difference = a.numerator * b.denominator - b.numerator * a.denominator
  return difference < 0n ? -1 : difference > 0n ? 1 : 0
}

export function smaller(a: Rational, b: Rational): Rational {
  return compare(a, b) <= 0 ? a : b
}

export function larger(a: Rational, b: Rational): Rational {
  return compare(a, b) >= 0 ? a : b
}

/** The largest whole number that is not above it. */
export function floor({ numerator, denominator }: Rational): bigint {
  const quotient = numerator / denominator
  return numerator < 0n && quotient * denominator !== numerator ? quotient - 1n : quotient
}

/** The smallest whole number that is not below it. */
export function ceil(a: Rational): bigint {
  return -floor(negate(a))
}

export function toNumber({ numerator, denominator }: Rational): number {
  return Number(numerator) / Number(denominator)
}

/** A factor in percent, to one decimal place. */
export function percent(factor: Rational): number {
  return Math.round(toNumber(factor) * 1000) / 10
}

/** Exact value of decimals (`-24.5`, `1e3`); undefined if the text is not a number of a size that media have. */
export function decimal(text: string): Rational | undefined {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^([+-]?)(\d{0,30})(?:\.(\d{0,30}))?(?:[eE]([+-]?\d{1,2}))?$/.exec(text.trim()) ?? []
  if (whole === '' && fraction === '') return undefined
  const digits = BigInt(`${whole}${fraction}`) * (sign === '-' ? -1n : 1n)
  const power = Number(exponent) - fraction.length
  return power >= 0 ? rational(digits * 10n ** BigInt(power)) : rational(digits, 10n ** BigInt(-power))
}

function gcd(a: bigint, b: bigint): bigint {
  let [x, y] = [a, b]
  while (y !== 0n) [x, y] = [y, x % y]
  return x
}
