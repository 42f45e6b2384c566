import { malformedReason } from '../../src/media/probe/malformed-file.js'
import {
  brokenSegment,
  formatOfFrame,
  muxedAudio,
  notAacLc,
  type SegmentFormat,
  wholeFrameLength,
} from './audio-frames.js'
import { packUnit, streamsOf, type TransportPacket, transportPackets } from './transport-packets.js'

const ADTS_STREAM = 0x0f
/** Types of streams that are sound, with those of Dolby, DTS, and of encrypted ones. */
const SOUND_TYPES = [0x03, 0x04, ADTS_STREAM, 0x11, 0x81, 0x82, 0x84, 0x85, 0x87, 0xc1, 0xc2, 0xcf]
const PICTURE_TYPES = [0x01, 0x02, 0x10, 0x1b, 0x20, 0x24, 0x33, 0xd1, 0xdb, 0xea]

/** A packetized elementary stream packet: its header with the time, and the packets that carried it. */
interface Unit {
  readonly packets: TransportPacket[]
  readonly header: Buffer
  readonly payload: Buffer
}

interface Sound {
  readonly pid: number
  readonly packets: readonly TransportPacket[]
  readonly units: readonly Unit[]
  /** For each frame the unit in which it begins. */
  readonly frames: readonly { readonly bytes: Buffer; readonly unit: number }[]
}

/** ADTS sound in MPEG transport streams. Tables, clock, times and other streams (timed metadata) stay as they are. */
export class TransportFormat implements SegmentFormat {
  readonly #name: string
  /** Continuity counter of the next packet: it runs on from segment to segment. */
  #counter: number | null = null

  constructor(name: string) {
    this.#name = name
  }

  framesOf(segment: Buffer): readonly Buffer[] {
    return this.#read(segment).frames.map(({ bytes }) => bytes)
  }

  withFrames(segment: Buffer, frames: readonly Buffer[]): Buffer {
    const { pid, packets, units, frames: old } = this.#read(segment)
    const written: Buffer[] = []
    for (const packet of packets) {
      if (packet.pid !== pid) {
        written.push(packet.bytes)
        continue
      }
      this.#counter ??= (packet.bytes[3] as number) & 15
      if (!packet.hasPayload) {
        // The clock alone: its counter is that of the packet before.
        written.push(withCounter(packet.bytes, this.#counter - 1))
        continue
      }
      const place = units.findIndex((unit) => unit.packets[0] === packet)
      if (place < 0) continue
      const { header, packets: carriers } = units[place] as Unit
      const payload = Buffer.concat(frames.filter((_, index) => old[index]?.unit === place))
      const fields = carriers.map(({ adaptation }) => adaptation)
      const out = packUnit(pid, Buffer.concat([withLength(header, payload.length), payload]), fields, this.#counter)
      this.#counter += out.length
      written.push(...out)
    }
    return Buffer.concat(written)
  }

  #read(segment: Buffer): Sound {
    const packets = transportPackets(segment)
    if (packets === null) throw brokenSegment(this.#name, 'is not an MPEG transport stream')
    const pid = this.#soundPid(packets)
    const units: { packets: TransportPacket[] }[] = []
    for (const packet of packets) {
      if (packet.pid !== pid || !packet.hasPayload) continue
      if (packet.startsUnit) units.push({ packets: [] })
      if (units.length === 0) throw brokenSegment(this.#name, 'begins in the middle of a frame')
      units.at(-1)?.packets.push(packet)
    }
    const whole = units.map(({ packets: carriers }) => this.#unit(carriers))
    return { pid, packets, units: whole, frames: this.#frames(whole) }
  }

  #soundPid(packets: readonly TransportPacket[]): number {
    const streams = this.#streams(packets)
    const sounds = streams.filter(({ streamType }) => SOUND_TYPES.includes(streamType))
    if (sounds.length > 1 || streams.some(({ streamType }) => PICTURE_TYPES.includes(streamType))) {
      throw muxedAudio(`The segments of ${this.#name} hold`, this.#name)
    }
    const [sound] = sounds
    if (!sound) throw brokenSegment(this.#name, 'holds no sound')
    if (sound.streamType !== ADTS_STREAM) throw notAacLc(this.#name)
    return sound.pid
  }

  #streams(packets: readonly TransportPacket[]): ReturnType<typeof streamsOf> {
    try {
      return streamsOf(packets)
    } catch (error) {
      throw brokenSegment(this.#name, `is unreadable: ${malformedReason(error)}`)
    }
  }

  #unit(packets: TransportPacket[]): Unit {
    const bytes = Buffer.concat(packets.map(({ payload }) => payload))
    if (bytes.length < 9 || bytes.readUIntBE(0, 3) !== 1)
      throw brokenSegment(this.#name, 'has a packet without its header')
    const headerBytes = 9 + (bytes[8] as number)
    const said = bytes.readUInt16BE(4)
    return {
      packets,
      header: bytes.subarray(0, headerBytes),
      payload: bytes.subarray(headerBytes, said === 0 ? bytes.length : 6 + said),
    }
  }

  #frames(units: readonly Unit[]): Sound['frames'] {
    const stream = Buffer.concat(units.map(({ payload }) => payload))
    const ends: number[] = []
    for (const { payload } of units) ends.push((ends.at(-1) ?? 0) + payload.length)
    const frames = []
    for (let at = 0; at < stream.length; ) {
      const length = wholeFrameLength(stream, at)
      if (length === null) throw brokenSegment(this.#name, 'does not end with a whole frame')
      const bytes = stream.subarray(at, at + length)
      if (at === 0) formatOfFrame(bytes, this.#name)
      const start = at
      frames.push({ bytes, unit: ends.findIndex((end) => start < end) })
      at += length
    }
    return frames
  }
}

function withCounter(packet: Buffer, counter: number): Buffer {
  const copy = Buffer.from(packet)
  copy[3] = ((copy[3] as number) & 0xf0) | (counter & 15)
  return copy
}

/** The header of a packet with so many bytes behind it; 0 if they do not fit into its 16 bits. */
function withLength(header: Buffer, payloadBytes: number): Buffer {
  const copy = Buffer.from(header)
  const length = header.length - 6 + payloadBytes
  copy.writeUInt16BE(length > 0xffff ? 0 : length, 4)
  return copy
}
