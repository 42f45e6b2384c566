/** The first place of rising numbers that is at least the wanted one; `count` if there is none. */
export function firstAtLeast(count: number, numberAt: (place: number) => number, wanted: number): number {
  let low = 0
  let high = count
  while (low < high) {
    const middle = (low + high) >>> 1
    if (numberAt(middle) < wanted) low = middle + 1
    else high = middle
  }
  return low
}
