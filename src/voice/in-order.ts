import { linkedAbort, throwIfAborted } from '../core/abort.js'
import type { Block } from './block-plan.js'

/**
 * Works on blocks in parallel and gives the results in order. A reader that stops, or a fault, stops the work.
 *
 * @param atOnce blocks in work beside the one that is waited for
 */
export async function* inOrder<T>(
  blocks: AsyncIterable<Block>,
  work: (block: Block, signal: AbortSignal) => Promise<T>,
  { atOnce, signal }: { readonly atOnce: number; readonly signal: AbortSignal | undefined },
): AsyncGenerator<T> {
  const { controller, release } = linkedAbort(signal)
  const running: Promise<T>[] = []
  try {
    for await (const block of blocks) {
      throwIfAborted(controller.signal)
      const result = work(block, controller.signal)
      // Waited for in order, below; until then a failure is not unheard.
      result.catch(() => {})
      running.push(result)
      const first = running.length > atOnce ? running.shift() : undefined
      if (first) yield await first
    }
    for (const result of running) yield await result
  } finally {
    controller.abort()
    release()
  }
}
