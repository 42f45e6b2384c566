import { linkedAbort } from '../../../src/core/abort.js'

/**
 * Works on items, several at once, and gives the results in the order of the items. The first error ends the others.
 *
 * @param work gets a signal that fires when another item failed, or when `outer` does
 * @throws the first error of `work`, after all have ended
 */
export async function eachItem<T>(
  count: number,
  atOnce: number,
  outer: AbortSignal | undefined,
  work: (index: number, signal: AbortSignal) => Promise<T>,
): Promise<T[]> {
  const { controller, signal, release } = linkedAbort(outer)
  const results = new Array<T>(count)
  const faults: unknown[] = []
  let next = 0
  const worker = async () => {
    while (next < count && faults.length === 0) {
      const index = next++
      try {
        results[index] = await work(index, signal)
      } catch (thrown) {
        faults.push(thrown)
        controller.abort(thrown)
      }
    }
  }
  await Promise.all(Array.from({ length: Math.max(1, Math.min(atOnce, count)) }, worker))
  release()
  if (faults.length > 0) throw faults[0]
  return results
}
