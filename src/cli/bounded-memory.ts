import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/**
 * Keeps V8's young generation at its initial size, and collects it on its own thread. Streaming audio makes garbage at
 * a steady rate. V8 reacts by growing the heap by tens of megabytes that it never needs. Its helper threads would also
 * wait for a processor beside busy encoders, which takes longer than the collection.
 *
 * Samples lie outside the heap. V8 lets 64 MB of them pile up before it looks which are still needed. It also begins to
 * mark the heap in small steps whenever some have come through. The steps take several times as long as all at once.
 */
export function boundMemory(): void {
  for (const flag of FLAGS) setFlagsFromString(flag)
  const [outside, inside] = [collectorOutside(), collectorInside()]
  setInterval(() => outside() || inside(), LOOK_MS).unref()
}

const FLAGS = [
  '--semi-space-growth-factor=1',
  '--no-parallel-scavenge',
  '--no-concurrent-marking',
  '--no-incremental-marking',
  '--no-concurrent-sweeping',
  '--no-concurrent-array-buffer-sweeping',
]

const LOOK_MS = 50
const MOST_GROWTH_BYTES = 24 * 1024 ** 2
const MOST_HEAP_GROWTH_BYTES = 48 * 1024 ** 2

/**
 * Collects garbage if memory outside the heap grew by 24 MB since its least. The result tells if it did. Most buffers die
 * young: a collection of the young takes a millisecond, and one of everything takes 40.
 */
export function collectorOutside(): () => boolean {
  const usedBytes = () => getHeapStatistics().external_memory
  return collectorOf(usedBytes, MOST_GROWTH_BYTES, (collect, leastBytes) => {
    collect({ type: 'minor' })
    if (usedBytes() - leastBytes >= MOST_GROWTH_BYTES / 2) collect()
  })
}

/**
 * Collects everything if the heap grew by 48 MB since its least. The result tells if it did. Without its small steps, V8
 * waits until there are hundreds of megabytes: rows of a long ledger become old before they are written.
 */
export function collectorInside(): () => boolean {
  const usedBytes = () => getHeapStatistics().used_heap_size
  return collectorOf(usedBytes, MOST_HEAP_GROWTH_BYTES, (collect) => collect())
}

type Collect = (options?: { readonly type: 'minor' }) => void

/** Collects if memory grew by so much since its least. */
function collectorOf(
  usedBytes: () => number,
  mostGrowthBytes: number,
  reduce: (collect: Collect, leastBytes: number) => void,
): () => boolean {
  let leastBytes = usedBytes()
  let collect: Collect | undefined
  return () => {
    leastBytes = Math.min(leastBytes, usedBytes())
    if (usedBytes() - leastBytes < mostGrowthBytes) return false
    collect ??= garbageCollector()
    if (collect) reduce(collect, leastBytes)
    leastBytes = usedBytes()
    return true
  }
}

/** V8's own, which it shows only to contexts that are made after the flag. */
function garbageCollector(): Collect | undefined {
  setFlagsFromString('--expose-gc')
  return runInNewContext('globalThis.gc') as Collect | undefined
}
