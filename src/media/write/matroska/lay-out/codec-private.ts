import { lacingOf } from '../../frames/ogg-pages.js'
import { withOpusRate } from '../../frames/opus-rate.js'
import type { TrackEntry } from '../read/track-entry.js'
import { xiphPackets } from '../read/unlace.js'

const STREAMINFO = 0
const SEEKTABLE = 3

/** The codec's own header for new packets, with what the old one states of other things: comments, pictures. */
export function newCodecPrivate(old: TrackEntry, fresh: TrackEntry): Buffer | null {
  const [before, made] = [old.codecPrivate, fresh.codecPrivate]
  if (!before || !made || old.codecId !== fresh.codecId) return made
  if (fresh.codecId === 'A_FLAC') return flacHeader(before, made) ?? made
  if (fresh.codecId === 'A_VORBIS') return vorbisHeader(before, made) ?? made
  if (fresh.codecId === 'A_OPUS') return withOpusRate(before, made)
  return made
}

/** The metadata blocks of the old header with the new STREAMINFO; undefined for another structure. */
function flacHeader(old: Buffer, made: Buffer): Buffer | undefined {
  const [before, fresh] = [flacBlocks(old), flacBlocks(made)]
  const info = fresh?.find((block) => typeOf(block) === STREAMINFO)
  if (!before || !info || typeOf(before[0]) !== STREAMINFO) return undefined
  // A seek table leads to frames of a file, and the packets have no such places.
  const rest = before.slice(1).filter((block) => typeOf(block) !== SEEKTABLE)
  const blocks = [info, ...rest].map((block, place) => {
    const copy = Buffer.from(block)
    copy[0] = typeOf(block) | (place === rest.length ? 0x80 : 0)
    return copy
  })
  return Buffer.concat([Buffer.from('fLaC'), ...blocks])
}

function typeOf(block: Buffer | undefined): number {
  return (block?.[0] ?? 0xff) & 0x7f
}

function flacBlocks(header: Buffer): readonly Buffer[] | undefined {
  if (header.toString('latin1', 0, 4) !== 'fLaC') return undefined
  const blocks: Buffer[] = []
  for (let at = 4; at + 4 <= header.length; ) {
    const end = at + 4 + header.readUIntBE(at + 1, 3)
    if (end > header.length) return undefined
    blocks.push(header.subarray(at, end))
    at = end
  }
  return blocks
}

/** The old comment between the new id header and the new set-up; undefined for another structure. */
function vorbisHeader(old: Buffer, made: Buffer): Buffer | undefined {
  const [before, fresh] = [xiphPackets(old), xiphPackets(made)]
  const comment = before?.[1]
  const [id, , setUp] = fresh ?? []
  if (!comment || !id || !setUp) return undefined
  const sizes = [id, comment].flatMap(({ length }) => lacingOf(length))
  return Buffer.concat([Buffer.from([2, ...sizes]), id, comment, setUp])
}
