import { uint32BE, writeUintBE } from '../../number-bytes.js'
import { makeBox, makeFullBox } from './box.js'
import type { Edit } from './edits.js'
import type { DurationRun, SampleSizes } from './sample-table.js'

/** Makes `stts`. */
export function makeDurations(runs: readonly DurationRun[]): Buffer {
  const values = runs.flatMap(({ count, ticks }) => [count, ticks])
  return makeFullBox('stts', 0, 0, table(values, runs.length))
}

/** Makes `stsz`. */
export function makeSizes(sizes: SampleSizes): Buffer {
  if (sizes.kind === 'uniform') return makeFullBox('stsz', 0, 0, uint32BE(sizes.bytes, sizes.count))
  const fields = Buffer.alloc(8 + 4 * sizes.bytes.length)
  fields.writeUInt32BE(sizes.bytes.length, 4)
  for (const [row, bytes] of sizes.bytes.entries()) fields.writeUInt32BE(bytes, 8 + 4 * row)
  return makeFullBox('stsz', 0, 0, fields)
}

/** Makes `stsc` for chunks with the given numbers of samples, all of the first sample description. */
export function makeChunkLayout(samplesOfChunks: readonly number[]): Buffer {
  const steps = samplesOfChunks.flatMap((samples, index) =>
    index > 0 && samples === samplesOfChunks[index - 1] ? [] : [index + 1, samples, 1],
  )
  return makeFullBox('stsc', 0, 0, table(steps, steps.length / 3))
}

/** Makes `stco` or `co64` with zeros for offsets; {@link writeChunkOffsets} fills them in. */
export function makeChunkOffsets(count: number, isWide: boolean): Buffer {
  const fields = Buffer.alloc(4 + count * (isWide ? 8 : 4))
  fields.writeUInt32BE(count, 0)
  return makeFullBox(isWide ? 'co64' : 'stco', 0, 0, fields)
}

/** Writes offsets into a box of {@link makeChunkOffsets}; false if one does not fit into 32 bits. */
export function writeChunkOffsets(box: Buffer, offsets: Float64Array): boolean {
  const width = box.toString('latin1', 4, 8) === 'co64' ? 8 : 4
  if (width === 4 && offsets.some((offset) => offset > 0xffff_ffff)) return false
  for (const [row, offset] of offsets.entries()) writeUintBE(box, offset, 16 + width * row, width)
  return true
}

function table(values: readonly number[], count: number): Buffer {
  const fields = Buffer.alloc(4 + 4 * values.length)
  fields.writeUInt32BE(count, 0)
  for (const [place, value] of values.entries()) fields.writeUInt32BE(value, 4 + 4 * place)
  return fields
}

/** Makes `elst`, in 64 bits only if it must. */
export function makeEdits(edits: readonly Edit[]): Buffer {
  const isLong = edits.some(({ duration, mediaTick }) => duration > 0xffff_ffff || mediaTick > 0x7fff_ffff)
  const width = isLong ? 8 : 4
  const rowBytes = 2 * width + 4
  const fields = Buffer.alloc(4 + edits.length * rowBytes)
  fields.writeUInt32BE(edits.length, 0)
  for (const [row, { duration, mediaTick, rate }] of edits.entries()) {
    const at = 4 + row * rowBytes
    writeUintBE(fields, duration, at, width)
    if (isLong) fields.writeBigInt64BE(BigInt(mediaTick), at + 8)
    else fields.writeInt32BE(mediaTick, at + 4)
    fields.writeInt32BE(rate, at + 2 * width)
  }
  return makeFullBox('elst', isLong ? 1 : 0, 0, fields)
}

/** Makes `edts` around {@link makeEdits}. */
export function makeEditBox(edits: readonly Edit[]): Buffer {
  return makeBox('edts', makeEdits(edits))
}
