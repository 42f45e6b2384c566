import { readFile, writeFile } from 'node:fs/promises'
import { ffmpeg } from '../../helpers/media-factory.js'

/** Frames that share a packet. */
const FRAMES = 4
/** Places in a stream header of AVI, behind its name and size. */
const SAMPLE_SIZE_AT = 52

/**
 * Joins packets of Windows Media, as its own encoders do and ffmpeg's does not. Each new packet states a time for its
 * first frame alone.
 *
 * @param times of the new packets, as an expression of the filter `setts`
 */
export async function joinPackets(path: string, times: string): Promise<void> {
  const avi = `${path}.avi`
  await ffmpeg('-i', path, '-c', 'copy', avi)
  const bytes = await readFile(avi)
  const head = Buffer.from(bytes.subarray(0, bytes.indexOf('movi') + 4))
  const packets = chunksOf(bytes.subarray(head.length, bytes.lastIndexOf('idx1')))
  const header = head.indexOf('strh')
  // Zero: each chunk is a packet.
  head.writeUInt32LE(0, header + SAMPLE_SIZE_AT)
  const joined = Array.from({ length: Math.floor(packets.length / FRAMES) }, (_, place) =>
    chunk(Buffer.concat(packets.slice(place * FRAMES, (place + 1) * FRAMES))),
  )
  const movie = Buffer.concat(joined)
  head.writeUInt32LE(movie.length + 4, head.length - 8)
  head.writeUInt32LE(head.length + movie.length - 8, 4)
  await writeFile(avi, Buffer.concat([head, movie]))
  const joinedPath = `${path}.joined.wma`
  await ffmpeg('-i', avi, '-c', 'copy', joinedPath)
  await ffmpeg('-i', joinedPath, '-c', 'copy', '-bsf:a', `setts=ts=${times}`, path)
}

function chunksOf(movie: Buffer): readonly Buffer[] {
  const chunks: Buffer[] = []
  for (let at = 0; at + 8 <= movie.length; ) {
    const size = movie.readUInt32LE(at + 4)
    if (movie.toString('latin1', at, at + 4) === '00wb') chunks.push(movie.subarray(at + 8, at + 8 + size))
    at += 8 + size + (size % 2)
  }
  return chunks
}

function chunk(content: Buffer): Buffer {
  const size = Buffer.alloc(4)
  size.writeUInt32LE(content.length)
  return Buffer.concat([Buffer.from('00wb'), size, content, Buffer.alloc(content.length % 2)])
}
