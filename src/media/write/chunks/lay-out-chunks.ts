import { uint32BE, uint32LE } from '../../number-bytes.js'
import { type BytePiece, type BytePlan, bytePlan, inputPiece, lengthOf, newBytes } from '../byte-plan.js'
import { renewedPart } from '../pcm-in-place/stale-chunks.js'
import { alignedLength, type Chunk, type ChunkFile, type ChunkForm, holdsSamples } from '../structure/chunks.js'
import { type ChunkDonor, CODING_CHUNKS, isOfCoding, type SoundFile } from './sound-chunks.js'

/** In `ds64`: sizes of the file and of the samples, and their number. */
const DS64_BYTES = 24

/** Lays out a file of chunks with the sound of a donor. */
export function layOutChunks(sound: SoundFile, donor: ChunkDonor): BytePlan {
  const { form, headLength, chunks, end, sizeBytes } = sound.file
  const missing = CODING_CHUNKS[form].filter((id) => chunks.every((chunk) => chunk.id !== id))
  const done = new Set<string>()
  const sizes = Buffer.alloc(DS64_BYTES)
  const body = chunks.flatMap((chunk): readonly BytePiece[] => {
    if (chunk.id === 'ds64') return patched(chunk, chunk.bodyStart, [newBytes(sizes)])
    if (!isOfCoding(form, chunk.id)) return oldChunk(sound, chunk, donor)
    if (done.has(chunk.id)) return []
    done.add(chunk.id)
    const added = holdsSamples(chunk.id) ? missing.flatMap((id) => donorChunk(donor, id)) : []
    const made = donorChunk(donor, chunk.id)
    return [...added, ...(made.length > 0 ? made : countedChunk(chunk, donor, form))]
  })
  const length = headLength + lengthOf(body)
  const data = donor.file.chunks.find(({ id }) => holdsSamples(id))
  sizes.writeBigUInt64LE(BigInt(length - 8), 0)
  sizes.writeBigUInt64LE(BigInt(data?.bodyLength ?? 0), 8)
  sizes.writeBigUInt64LE(BigInt(Math.floor(donor.sampleCount ?? 0)), 16)
  return bytePlan([...head(sound.file, length, donor), ...body, inputPiece(end, sizeBytes)])
}

/** The bytes before the first chunk, with the size of the form. */
function head({ form, headLength }: ChunkFile, length: number, donor: ChunkDonor): readonly BytePiece[] {
  switch (form) {
    case 'riff':
      return [inputPiece(0, 4), newBytes(uint32LE(length - 8)), inputPiece(8, headLength)]
    case 'aiff':
      return [inputPiece(0, 4), newBytes(uint32BE(length - 8)), newBytes(donor.formType)]
    case 'w64': {
      const size = Buffer.alloc(8)
      size.writeBigUInt64LE(BigInt(length))
      return [inputPiece(0, 16), newBytes(size), inputPiece(24, headLength)]
    }
    case 'rf64':
    case 'caf':
      return [inputPiece(0, headLength)]
    default:
      return form satisfies never
  }
}

/** A chunk that is not of the coding: its own bytes, without facts about the old sound. */
function oldChunk({ stale }: SoundFile, chunk: Chunk, donor: ChunkDonor): readonly BytePiece[] {
  const fact = stale.find((each) => each.chunk === chunk)
  if (!fact) return [inputPiece(chunk.start, chunk.end)]
  const part = renewedPart(fact, donor)
  return part ? patched(chunk, part.start, part.pieces) : []
}

/** The chunk of a donor, with the padding that the end of its file may lack; empty if it has none. */
function donorChunk({ file }: ChunkDonor, id: string): readonly BytePiece[] {
  const chunk = file.chunks.find((each) => each.id === id)
  if (!chunk) return []
  const padding = alignedLength(chunk.bodyLength, file.form) - (chunk.end - chunk.bodyStart)
  const own: BytePiece = { kind: 'donor', donor: 0, start: chunk.start, length: chunk.end - chunk.start }
  return [own, newBytes(Buffer.alloc(padding))]
}

/** `fact` of a coding that needs none states the number of samples; any other chunk without a successor is left out. */
function countedChunk(chunk: Chunk, { sampleCount }: ChunkDonor, form: ChunkForm): readonly BytePiece[] {
  if (chunk.id !== 'fact' || sampleCount === null || chunk.bodyLength < 4) return []
  const count = Buffer.alloc(form === 'w64' && chunk.bodyLength >= 8 ? 8 : 4)
  count.writeUInt32LE(Math.min(Math.floor(sampleCount), 0xffff_ffff))
  return patched(chunk, chunk.bodyStart, [newBytes(count)])
}

/** A chunk of the input with other bytes at an offset of the file. */
function patched({ start, end }: Chunk, at: number, pieces: readonly BytePiece[]): readonly BytePiece[] {
  return [inputPiece(start, at), ...pieces, inputPiece(at + lengthOf(pieces), end)]
}
