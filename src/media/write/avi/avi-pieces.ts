import { uint32LE } from '../../number-bytes.js'
import { isStreamedSize } from '../../probe/streamed-size.js'
import { type BytePiece, inputPiece, newBytes } from '../byte-plan.js'
import type { Chunk } from '../structure/chunks.js'

/** A chunk with a new body. */
export function withBody({ start }: Pick<Chunk, 'start'>, body: Buffer): readonly BytePiece[] {
  return [inputPiece(start, start + 4), sizePiece(body.length), newBytes(body), newBytes(Buffer.alloc(body.length % 2))]
}

/** A size that changes by some bytes. Recorders that were stopped leave 0 or a placeholder, which stays. */
export function statedSize(stated: number, growth: number): number {
  return isStreamedSize(stated) ? stated : stated + growth
}

/** The head of a packet's chunk. */
export function chunkHead(id: string, bytes: number): Buffer {
  return Buffer.concat([Buffer.from(id, 'latin1'), uint32LE(bytes)])
}

/** A size in a head. */
export function sizePiece(value: number): BytePiece {
  return newBytes(uint32LE(value))
}
