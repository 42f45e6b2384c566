/** A smooth step of a value: 0 up to `from`, 1 from `to` on. */
export function smoothStep(value: number, from: number, to: number): number {
  const x = Math.min(1, Math.max(0, (value - from) / (to - from)))
  return x * x * (3 - 2 * x)
}
