import fc from '../../../helpers/properties.js'

/** A block as the tests make it up. */
export interface MadeBlock {
  /** Place among the tracks. */
  readonly track: number
  /** Since the block before it. */
  readonly ticks: number
  readonly size: number
  readonly form: 'simple' | 'group' | 'xiph' | 'ebml' | 'fixed'
}

/** A file as the tests make it up. */
export interface MadeMatroska {
  /** True for sound. The first is. */
  readonly tracks: readonly boolean[]
  readonly blocks: readonly MadeBlock[]
  /** After how many blocks a new cluster begins. */
  readonly split: number
  readonly openSegment: boolean
  readonly openClusters: boolean
  /** Bytes of the sizes in heads, one after the other. */
  readonly widths: readonly number[]
  readonly cues: 'first' | 'last' | 'none'
  readonly cueDetails: readonly ('place' | 'number')[]
  readonly sums: boolean
  readonly states: boolean
  readonly seeks: 0 | 1 | 2
  readonly seekWidth: number
  readonly tags: boolean
  readonly headerStripped: boolean
  readonly tickNs: number
  readonly unknown: readonly string[]
}

/** Places of elements that nobody knows. */
const PLACES = [
  'segment',
  'tracks',
  'entry',
  'audio',
  'cluster',
  'end of cluster',
  'group',
  'cues',
  'cue',
  'tags',
  'tag',
]

const block: fc.Arbitrary<MadeBlock> = fc.record({
  track: fc.nat({ max: 2 }),
  // Also gaps that are longer than the times in a cluster can be.
  ticks: fc.oneof({ weight: 20, arbitrary: fc.nat({ max: 60 }) }, fc.nat({ max: 4000 }), fc.nat({ max: 90_000 })),
  size: fc.integer({ min: 1, max: 200 }),
  form: fc.constantFrom('simple', 'group', 'xiph', 'ebml', 'fixed'),
})

export const files: fc.Arbitrary<MadeMatroska> = fc.record({
  tracks: fc.array(fc.boolean(), { maxLength: 2 }).map((more) => [true, ...more]),
  blocks: fc.array(block, { minLength: 4, maxLength: 60 }),
  split: fc.integer({ min: 1, max: 12 }),
  openSegment: fc.boolean(),
  openClusters: fc.boolean(),
  widths: fc.array(fc.integer({ min: 1, max: 8 }), { minLength: 1, maxLength: 5 }),
  cues: fc.constantFrom('first', 'last', 'none'),
  cueDetails: fc.subarray(['place', 'number'] as const),
  sums: fc.boolean(),
  states: fc.boolean(),
  seeks: fc.constantFrom(0, 1, 2),
  seekWidth: fc.integer({ min: 2, max: 8 }),
  tags: fc.boolean(),
  headerStripped: fc.boolean(),
  tickNs: fc.constantFrom(1_000_000, 1_000_000, 100_000, 22_675),
  unknown: fc.uniqueArray(fc.constantFrom(...PLACES)),
})
