import type { FileHandle } from 'node:fs/promises'

/** One entry of a track's edit list. */
interface Edit {
  /** -1: nothing is shown. */
  readonly mediaTime: bigint
  readonly rate: number
}

interface Box {
  readonly type: string
  readonly bodyAt: number
  readonly endAt: number
}

/** Longer lists are no presentation any more. */
const MAX_EDITS = 10_000
const PARENTS: Readonly<Record<string, readonly string[]>> = {
  '': ['moov'],
  moov: ['trak'],
  trak: ['edts'],
  edts: ['elst'],
}

/**
 * Says why the edit lists of an mp4 or mov cannot be carried over as they are: ffmpeg copies packets, and a list that
 * plays parts of them in another order, twice, slowly or with holes would be presented otherwise afterwards. A late
 * start and a skipped lead-in (at most one empty edit, then one part at its own speed) are kept.
 *
 * @returns undefined where every list is simple
 */
export async function complexEdits(file: FileHandle, sizeBytes: number): Promise<string | undefined> {
  for await (const list of editLists(file, { type: '', bodyAt: 0, endAt: sizeBytes })) {
    const shown = list.filter(({ mediaTime }) => mediaTime >= 0n)
    const isEmptyInside = list.some(({ mediaTime }, place) => mediaTime < 0n && place > 0)
    if (shown.some(({ rate }) => rate !== 1)) return 'plays a part at another speed'
    if (shown.length > 1) return `is put together from ${shown.length} parts`
    if (isEmptyInside) return 'has a hole in the middle'
  }
  return undefined
}

async function* editLists(file: FileHandle, within: Box): AsyncGenerator<readonly Edit[]> {
  const wanted = PARENTS[within.type] ?? []
  for (let at = within.bodyAt; at + 8 <= within.endAt; ) {
    const box = await boxAt(file, at, within.endAt)
    if (!box) return
    if (box.type === 'elst' && within.type === 'edts') yield await editsOf(file, box)
    else if (wanted.includes(box.type)) yield* editLists(file, box)
    at = box.endAt
  }
}

async function boxAt(file: FileHandle, at: number, limit: number): Promise<Box | undefined> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(16), 0, 16, at)
  if (bytesRead < 8) return undefined
  const short = buffer.readUInt32BE(0)
  // 0: to the end of what it lies in; 1: the size follows as 64 bits.
  const size = short === 0 ? limit - at : short === 1 && bytesRead === 16 ? Number(buffer.readBigUInt64BE(8)) : short
  const headBytes = short === 1 ? 16 : 8
  if (size < headBytes) return undefined
  return { type: buffer.toString('latin1', 4, 8), bodyAt: at + headBytes, endAt: Math.min(at + size, limit) }
}

async function editsOf(file: FileHandle, { bodyAt, endAt }: Box): Promise<readonly Edit[]> {
  const length = Math.min(endAt - bodyAt, 8 + MAX_EDITS * 20)
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, bodyAt)
  if (bytesRead < 8) return []
  const long = buffer[0] === 1
  const entryBytes = long ? 20 : 12
  const count = Math.min(buffer.readUInt32BE(4), Math.floor((bytesRead - 8) / entryBytes))
  return Array.from({ length: count }, (_, place) => {
    const entry = 8 + place * entryBytes
    return long
      ? { mediaTime: buffer.readBigInt64BE(entry + 8), rate: buffer.readInt32BE(entry + 16) / 65_536 }
      : { mediaTime: BigInt(buffer.readInt32BE(entry + 4)), rate: buffer.readInt32BE(entry + 8) / 65_536 }
  })
}
