import { type BytePiece, newBytes, pieceLength } from '../byte-plan.js'

/** Removes bytes from the start of some pieces. */
export function takeBytes(pieces: BytePiece[], length: number): readonly BytePiece[] {
  const taken: BytePiece[] = []
  for (let wanted = length; wanted > 0; ) {
    const piece = pieces.shift() as BytePiece
    const bytes = Math.min(wanted, pieceLength(piece))
    taken.push(part(piece, 0, bytes))
    if (bytes < pieceLength(piece)) pieces.unshift(part(piece, bytes, pieceLength(piece)))
    wanted -= bytes
  }
  return taken
}

function part(piece: BytePiece, from: number, to: number): BytePiece {
  switch (piece.kind) {
    case 'bytes':
      return newBytes(piece.bytes.subarray(from, to))
    case 'input':
    case 'donor':
      return { ...piece, start: piece.start + from, length: to - from }
    default:
      throw new RangeError('A checksum has no parts.')
  }
}
