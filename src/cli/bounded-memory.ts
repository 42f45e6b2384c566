import { setFlagsFromString } from 'node:v8'

/**
 * Keeps V8's young generation at the size it has at the start, and collects it in the thread that made it. Streaming
 * sound makes garbage at a steady rate, to which V8 answers by growing to tens of megabytes that are never needed, and
 * with helpers that must first be given a processor: beside busy encoders, waiting for them takes as long as the work.
 */
export function boundMemory(): void {
  for (const flag of FLAGS) setFlagsFromString(flag)
}

const FLAGS = [
  '--semi-space-growth-factor=1',
  '--no-parallel-scavenge',
  '--no-concurrent-marking',
  '--no-concurrent-sweeping',
  '--no-concurrent-array-buffer-sweeping',
]
