import { setFlagsFromString } from 'node:v8'

/**
 * Keeps V8's young generation at its initial size, and collects it on its own thread. Streaming audio makes garbage at
 * a steady rate. V8 reacts by growing the heap by tens of megabytes that it never needs. Its helper threads would also
 * wait for a processor beside busy encoders, which takes longer than the collection.
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
