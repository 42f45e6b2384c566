import { isStreamedSize } from '../../probe/streamed-size.js'
import { type BytePiece, inputPiece, newBytes, pieceLength } from '../byte-plan.js'
import type { Chunk } from '../structure/chunks.js'

/** A chunk with a new body. */
export function withBody({ start }: Pick<Chunk, 'start'>, body: Buffer): readonly BytePiece[] {
  return [inputPiece(start, start + 4), uint32(body.length), newBytes(body), newBytes(Buffer.alloc(body.length % 2))]
}

/** A size that changes by some bytes. Recorders that were stopped leave 0 or a placeholder, which stays. */
export function statedSize(stated: number, growth: number): number {
  return isStreamedSize(stated) ? stated : stated + growth
}

export function lengthOf(pieces: readonly BytePiece[]): number {
  return pieces.reduce((sum, piece) => sum + pieceLength(piece), 0)
}

/** The head of a packet's chunk. */
export function packetHead(id: string, bytes: number): Buffer {
  const head = Buffer.alloc(8)
  head.write(id, 'latin1')
  head.writeUInt32LE(bytes, 4)
  return head
}

export function uint32(value: number): BytePiece {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return newBytes(bytes)
}
