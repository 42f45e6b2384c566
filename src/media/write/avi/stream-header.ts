import { MalformedFile } from '../../probe/malformed-file.js'
import { type HeaderPart, partsOf } from '../structure/avi-headers.js'

/** The clock of a stream: a packet lasts `scale / rate` seconds, or each `sampleSize` bytes do if that is not 0. */
export interface AviClock {
  readonly scale: number
  readonly rate: number
  readonly sampleSize: number
  /** Delay of the stream, in units of its clock. */
  readonly start: number
}

/** A stream of an AVI by its headers. */
export interface AviStream {
  /** `auds`, `vids`, `txts`, `iavs`. */
  readonly kind: string
  /** `strh`. */
  readonly header: HeaderPart
  /** `strf`: the coding. */
  readonly format: HeaderPart
  readonly clock: AviClock
}

/** Places in the body of `strh` (AVISTREAMHEADER). */
const FIELDS = { handler: 4, scale: 20, rate: 24, start: 28, length: 32, end: 48 }

/** Reads the streams of `hdrl`, in their order. @throws MalformedFile */
export function readStreams(headers: HeaderPart): readonly AviStream[] {
  return partsOf(headers, 'strl').map((list) => {
    const [[header], [format]] = [partsOf(list, 'strh'), partsOf(list, 'strf')]
    if (!header || !format || header.body.length < FIELDS.end) throw new MalformedFile('a stream has no whole header')
    const field = (at: number) => header.body.readUInt32LE(at)
    const sampleSize = field(44)
    const clock = { scale: field(FIELDS.scale), rate: field(FIELDS.rate), start: field(FIELDS.start), sampleSize }
    return { kind: header.body.toString('latin1', 0, 4), header, format, clock }
  })
}

/** The body of `strh` with the coding, clock and length of another stream. Flags, priority, language and place stay. */
export function withNewSound({ header }: AviStream, made: AviStream): Buffer {
  const body = Buffer.from(header.body)
  made.header.body.copy(body, FIELDS.handler, FIELDS.handler, FIELDS.handler + 4)
  made.header.body.copy(body, FIELDS.scale, FIELDS.scale, FIELDS.start)
  made.header.body.copy(body, FIELDS.length, FIELDS.length, FIELDS.end)
  return body
}

/** Length of some packets in units of the clock. */
export function unitsOf({ sampleSize }: AviClock, packets: { readonly count: number; readonly bytes: number }): number {
  return sampleSize > 0 ? Math.floor(packets.bytes / sampleSize) : packets.count
}

/** Starts of packets in seconds, from their sizes in bytes. */
export function startTimes({ scale, rate, sampleSize }: AviClock, count: number, bytesOf: (packet: number) => number) {
  const starts = new Float64Array(count)
  const unitSec = scale / Math.max(1, rate)
  let bytes = 0
  for (let packet = 0; packet < count; packet++) {
    starts[packet] = sampleSize > 0 ? (bytes / sampleSize) * unitSec : packet * unitSec
    bytes += bytesOf(packet)
  }
  return starts
}
