/**
 * Weight of the incoming signal at `index` of a fade of `length` samples. A raised cosine, above 0 at 0 and below 1 at
 * `length - 1`, because the neighbours of a fade are complete. 0 before, 1 after.
 */
export function raisedCosine(index: number, length: number): number {
  if (index < 0) return 0
  if (index >= length) return 1
  return 0.5 - 0.5 * Math.cos((Math.PI * (index + 1)) / (length + 1))
}
