import { expect, it } from 'vitest'
import type { BytePiece } from '../../../src/media/write/byte-plan.js'
import { keepId3 } from '../../../src/media/write/frames/id3-frames.js'
import { id3, id3Frame } from './made-tags.js'

/** A chapter from the first to the fifth second. */
function chapter(offsets: string): Buffer {
  const title = id3Frame('TIT2', Buffer.from('\0Intro'))
  return id3Frame(
    'CHAP',
    Buffer.concat([Buffer.from(`ch0\0`), Buffer.from(`000003e800001388${offsets}`, 'hex'), title]),
  )
}

const START = 1000
const UNUSED = 'ffffffffffffffff'

function written(tag: Buffer): Buffer {
  const bytesOf = (piece: BytePiece) => {
    if (piece.kind === 'bytes') return piece.bytes
    if (piece.kind !== 'input') throw new Error(`a piece of the kind ${piece.kind}`)
    return tag.subarray(piece.start - START, piece.start - START + piece.length)
  }
  return Buffer.concat(keepId3(tag, START).pieces.map(bytesOf))
}

it('marks the byte offsets of a chapter as unused, because the sound has other bytes', () => {
  const title = id3Frame('TIT2', Buffer.from('\0A title'))
  const tag = id3(title, chapter('000012340000abcd'))
  expect(written(tag)).toEqual(id3(title, chapter(UNUSED)))
  const [entry] = keepId3(tag, START).entries.filter(({ fate }) => fate === 'rewritten')
  expect(entry?.path).toBe('ID3v2/CHAP')
})

it.each([UNUSED, '0000000000000000'])('keeps a chapter without byte offsets (%s)', (offsets) => {
  const tag = id3(chapter(offsets))
  expect(written(tag)).toEqual(tag)
  expect(keepId3(tag, START).entries.every(({ fate }) => fate === 'kept')).toBe(true)
})
