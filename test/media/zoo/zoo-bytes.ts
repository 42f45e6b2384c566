import { checksumOf } from '../checksum.js'
import { box, replaceBoxes } from '../movie-boxes.js'

/**
 * A Blu-ray subtitle (`.sup`), which ffmpeg reads and cannot write: one picture of eight by two pixels, shown from
 * 0.2 s and taken away at 0.9 s.
 */
export function blurayWords(): Buffer {
  const composition = (number: number, objects: Buffer) =>
    Buffer.concat([bytes(0, 64, 0, 48, 0x10, 0, number, number === 0 ? 0x80 : 0, 0, 0), objects])
  const oneObject = bytes(1, 0, 0, 0, 0, 0, 4, 0, 40)
  const window = bytes(1, 0, 0, 4, 0, 40, 0, 8, 0, 2)
  const palette = bytes(0, 0, 1, 235, 128, 128, 255)
  // Eight pixels of colour 1, twice; 0 0 ends a line.
  const line = bytes(0, 0x88, 1, 0, 0)
  const object = Buffer.concat([bytes(0, 0, 0, 0xc0, 0, 0, 4 + 2 * line.length, 0, 8, 0, 2), line, line])
  const [show, hide] = [0.2, 0.9]
  return Buffer.concat([
    ...[segment(show, 0x16, composition(0, oneObject)), segment(show, 0x17, window)],
    ...[segment(show, 0x14, palette), segment(show, 0x15, object), segment(show, 0x80, bytes())],
    ...[segment(hide, 0x16, composition(1, bytes(0))), segment(hide, 0x17, window), segment(hide, 0x80, bytes())],
  ])
}

function segment(atSec: number, type: number, body: Buffer): Buffer {
  const head = Buffer.alloc(13)
  head.write('PG', 0, 'latin1')
  head.writeUInt32BE(Math.round(atSec * 90_000), 2)
  head.writeUInt8(type, 10)
  head.writeUInt16BE(body.length, 11)
  return Buffer.concat([head, body])
}

function bytes(...values: readonly number[]): Buffer {
  return Buffer.from(values)
}

/** What a sound recordist's machine writes behind the samples: names of the tracks (iXML), and two cue points with names. */
export function withProductionChunks(wave: Buffer, trackNames: readonly string[]): Buffer {
  const tracks = trackNames.map(
    (name, place) => `<TRACK><CHANNEL_INDEX>${place + 1}</CHANNEL_INDEX><NAME>${name}</NAME></TRACK>`,
  )
  const xml = `<BWFXML><SCENE>12A</SCENE><TAKE>3</TAKE><TRACK_LIST>${tracks.join('')}</TRACK_LIST></BWFXML>`
  const cues = Buffer.alloc(4 + 2 * 24)
  cues.writeUInt32LE(2, 0)
  const labels: Buffer[] = []
  for (const [place, at] of [4800, 24_000].entries()) {
    cues.writeUInt32LE(place + 1, 4 + 24 * place)
    cues.writeUInt32LE(at, 8 + 24 * place)
    cues.write('data', 12 + 24 * place, 'latin1')
    cues.writeUInt32LE(at, 24 + 24 * place)
    labels.push(chunk('labl', Buffer.concat([bytes(place + 1, 0, 0, 0), Buffer.from(`mark ${place}\0`)])))
  }
  const list = chunk('LIST', Buffer.concat([Buffer.from('adtl'), ...labels]))
  const made = Buffer.concat([wave, chunk('iXML', Buffer.from(xml)), chunk('cue ', cues), list])
  made.writeUInt32LE(made.length - 8, 4)
  return made
}

function chunk(id: string, body: Buffer): Buffer {
  const head = Buffer.alloc(8)
  head.write(id, 0, 'latin1')
  head.writeUInt32LE(body.length, 4)
  return Buffer.concat([head, body, Buffer.alloc(body.length & 1)])
}

/** The same file under another brand: GoPro's telemetry track is one that ffmpeg starts only in a .mov. */
export function asMp4(movie: Buffer): Buffer {
  return replaceBoxes(movie, 'ftyp', (old) => {
    const made = Buffer.from(old)
    made.write('mp41', 8, 'latin1')
    made.write('mp41', 16, 'latin1')
    return made
  })
}

/** A picture that is shown mirrored: a display matrix that is no rotation. */
export function mirrored(movie: Buffer): Buffer {
  let isFirst = true
  return replaceBoxes(movie, 'tkhd', (old) => {
    if (!isFirst) return old
    isFirst = false
    const body = Buffer.from(old.subarray(8))
    // Version 0: the matrix stands at byte 40; a, b, u, c, d, v, x, y, w.
    body.writeInt32BE(-65_536, 40)
    body.writeInt32BE(64 * 65_536, 64)
    return box('tkhd', body)
  })
}

/** The languages of the tracks, packed as Apple's own programs write them. */
export function inLanguages(movie: Buffer, languages: readonly string[]): Buffer {
  const left = [...languages]
  return replaceBoxes(movie, 'mdhd', (old) => {
    const [one = 0, two = 0, three = 0] = [...(left.shift() ?? 'und')].map((letter) => letter.charCodeAt(0) - 0x60)
    const body = Buffer.from(old.subarray(8))
    body.writeUInt16BE(one * 1024 + two * 32 + three, 20)
    return box('mdhd', body)
  })
}

/**
 * A transport stream whose nameless data (of the type 6 and without a word on it) are called KLV, as a drone's camera
 * does: ffmpeg can copy such a stream and not name one.
 */
export function withNamedKlv(stream: Buffer): Buffer {
  const made = Buffer.from(stream)
  for (let at = 0; at + 188 <= made.length; at += 188) {
    const table = made.subarray(at + 5, at + 188)
    const isTable = made.readUInt16BE(at + 1) === 0x5000 && table[0] === 2
    if (isTable) nameKlv(table)
  }
  return made
}

/** Of a program map (ISO 13818-1, 2.4.4.9): the entry of the last stream gets a registration. */
function nameKlv(table: Buffer): void {
  const length = table.readUInt16BE(1) & 0x0fff
  const end = 3 + length - 4
  const registration = Buffer.concat([bytes(5, 4), Buffer.from('KLVA')])
  table.writeUInt16BE(0xf000 | registration.length, end - 2)
  registration.copy(table, end)
  table.writeUInt16BE((table.readUInt16BE(1) & 0xf000) | (length + registration.length), 1)
  table.writeUInt32BE(sectionSum(table.subarray(0, end + registration.length)), end + registration.length)
}

/** CRC of 32 bits as tables of transport streams have it. */
function sectionSum(section: Buffer): number {
  return checksumOf(section, 0xffff_ffff)
}
