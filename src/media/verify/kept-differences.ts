import { open } from 'node:fs/promises'
import { throwIfAborted } from '../../core/abort.js'
import { type NearReader, nearReader } from '../probe/near-reader.js'
import { type BytePlan, offsetMap } from '../write/byte-plan.js'
import type { Census, CensusEntry } from '../write/census.js'
import type { MuxPlan } from '../write/remux/mux-plan.js'

/** Structures that are kept as a whole and consist of packets, whose hashes are compared. */
const PACKETS = /^(mdat|essence\/\w+|Segment\/Cluster|other streams)$/
/** Bytes of such a structure that are compared: its head. */
const HEAD_BYTES = 16
/** Many small structures follow each other. */
const WINDOW_BYTES = 16 * 1024
const BLOCK_BYTES = 1024 ** 2
/** Most structures that are compared. A film in MXF has millions; then it is one of many, at even distances. */
const MOST_COMPARED = 20_000
/** Most structures that a message names. */
const MOST_NAMED = 5

/**
 * Compares each structure that the census calls kept with its bytes in a part file. The packets in them are left to their
 * hashes, so that little is read.
 *
 * @param layout of the part file; null if ffmpeg wrote it, or if its bytes have moved since
 */
export async function keptDifferences(
  { writing, media }: Pick<MuxPlan, 'writing' | 'media'>,
  layout: BytePlan | null,
  partPath: string,
  signal: AbortSignal | undefined,
): Promise<readonly string[]> {
  if (writing.kind === 'remux' || layout === null) return []
  await using input = await open(media.path, 'r')
  await using output = await open(partPath, 'r')
  const files = { was: nearReader(input, WINDOW_BYTES), is: nearReader(output, WINDOW_BYTES) }
  const { outputOffset } = offsetMap(layout)
  const changed = new Set<string>()
  for (const { path, start, length } of comparedOf(writing.census)) {
    throwIfAborted(signal)
    const at = outputOffset(start)
    if (at === undefined || !(await isSame(files, { start, at, length }))) changed.add(path)
  }
  const named = [...changed].slice(0, MOST_NAMED)
  return named.map((path) => `the bytes of ${path}`)
}

function* comparedOf(census: Census): Generator<CensusEntry> {
  let count = 0
  for (const { fate } of census) if (fate === 'kept') count += 1
  const step = Math.ceil(count / MOST_COMPARED)
  let place = 0
  for (const entry of census) {
    if (entry.fate !== 'kept' || entry.length === 0 || place++ % step > 0) continue
    yield PACKETS.test(entry.path) ? { ...entry, length: Math.min(entry.length, HEAD_BYTES) } : entry
  }
}

async function isSame(
  { was, is }: { readonly was: NearReader; readonly is: NearReader },
  { start, at, length }: { readonly start: number; readonly at: number; readonly length: number },
): Promise<boolean> {
  for (let done = 0; done < length; done += BLOCK_BYTES) {
    const size = Math.min(BLOCK_BYTES, length - done)
    const [old, made] = await Promise.all([was(start + done, size), is(at + done, size)])
    if (old.length < size || !old.equals(made)) return false
  }
  return true
}
