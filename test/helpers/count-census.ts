import type { Census, StructureFate } from '../../src/media/write/census.js'

/** Number of structures and bytes of each fate. */
export function countCensus(census: Census): Record<'structures' | 'bytes', Record<StructureFate, number>> {
  const structures = { kept: 0, rewritten: 0, lost: 0 }
  const bytes = { kept: 0, rewritten: 0, lost: 0 }
  for (const { fate, length } of census) {
    structures[fate] += 1
    bytes[fate] += length
  }
  return { structures, bytes }
}
