/** The mean of each value and its neighbours, as far as there are any: `reach` to both sides. */
export function slidingMean(values: Float64Array, reach: number): Float64Array {
  const sums = new Float64Array(values.length + 1)
  for (let i = 0; i < values.length; i++) sums[i + 1] = (sums[i] ?? 0) + (values[i] ?? 0)
  return values.map((_, i) => {
    const from = Math.max(0, i - reach)
    const to = Math.min(values.length, i + reach + 1)
    return ((sums[to] ?? 0) - (sums[from] ?? 0)) / (to - from)
  })
}

/** The largest of each value and its neighbours: `reach` to both sides. */
export function slidingMax(values: Float64Array, reach: number): Float64Array {
  return values.map((_, i) => {
    let most = Number.NEGATIVE_INFINITY
    const to = Math.min(values.length, i + reach + 1)
    for (let k = Math.max(0, i - reach); k < to; k++) most = Math.max(most, values[k] ?? most)
    return most
  })
}
