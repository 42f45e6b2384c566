import { MalformedFile } from '../../probe/malformed-file.js'
import { Column } from '../column.js'
import type { FrameKind } from '../pes/frame-kinds.js'
import { FrameSplitter } from '../pes/frame-splitter.js'
import type { SoundUnits, TimedFrames } from '../pes/timed-frames.js'
import { UnitClock } from '../pes/unit-clock.js'
import { PLAIN_BYTES } from '../structure/transport-pids.js'
import { SpareCollector, type SparePackets } from './spare-collector.js'
import { readSoundPacket, readUnitHead, UNCOUNTED_BYTES } from './transport-packet.js'

/** The packets of a sound from its first unit on, in columns: a day of film has millions. */
export interface SoundPackets {
  readonly count: number
  /** Place of a packet among all packets of the file. */
  readonly numberOf: (packet: number) => number
  /** First byte of the payload from the sync byte on; 188 if there is none. */
  readonly payloadAt: (packet: number) => number
  readonly keptBytes: (packet: number) => number
  readonly counter: (packet: number) => number
  readonly hasPriority: (packet: number) => boolean
}

/** The units of a sound in a transport stream. */
interface TransportUnits extends SoundUnits {
  /** First packet of a unit; for `count`, the one behind the last. */
  readonly packetOf: (unit: number) => number
  readonly headBytes: (unit: number) => number
  readonly statesLength: (unit: number) => boolean
}

/** The coding of a sound. */
export interface SoundKind {
  readonly frames: FrameKind
  readonly channels: number
}

/** A sound in a transport stream. */
export interface TransportSound extends TimedFrames {
  readonly packets: SoundPackets
  readonly units: TransportUnits
  readonly spares: SparePackets
  /** True if some packets cannot carry another number of bytes. */
  readonly isRigid: boolean
  /** True if packets are missing or damaged. */
  readonly isBroken: boolean
}

const COUNTERS = 16
const PRIORITY = 0x10

/** Collects the packets of a sound. Its functions throw a MalformedFile that says why it cannot be rewritten. */
export class SoundReader {
  readonly #splitter: FrameSplitter
  readonly #isInUnits: boolean
  readonly #spares: SpareCollector
  readonly #clock = new UnitClock()
  readonly #numbers = Column.integers()
  /** Four numbers below 256 for each packet: payload, kept bytes, counter with priority. */
  readonly #heads = Column.integers()
  readonly #units = {
    packets: Column.integers(),
    starts: Column.floats(),
    heads: Column.integers(),
    ticks: Column.floats(),
  }
  #soundBytes = 0
  #counter: number | null = null
  #payload: Buffer = Buffer.alloc(0)
  #isRigid = false
  #isBroken = false
  /** Bytes of sound that the last unit states; null if it states none. */
  #stated: number | null = null

  constructor({ frames, channels }: SoundKind) {
    this.#splitter = new FrameSplitter(frames)
    this.#isInUnits = frames.isUnit === true
    this.#spares = new SpareCollector(frames.mostBytes(channels))
  }

  /** @param number place among all packets @param at its sync byte */
  take(bytes: Buffer, at: number, number: number): void {
    const packet = readSoundPacket(bytes, at)
    const { payloadAt, startsUnit, keptBytes, counter, hasPriority } = packet
    this.#isRigid ||= packet.isRigid || packet.isDiscontinuous
    const payload = bytes.subarray(at + payloadAt, at + PLAIN_BYTES)
    this.#follow(counter, payload, packet.isDiscontinuous)
    if (packet.isDamaged) this.#break()
    if (this.#units.packets.count === 0 && !startsUnit) return
    this.#numbers.push(number)
    this.#heads.push(((payloadAt * 256 + keptBytes) * 256 + counter) | (hasPriority ? PRIORITY : 0))
    const data = startsUnit ? payload.subarray(this.#startUnit(payload)) : payload
    if (data.length === 0) return
    this.#soundBytes += data.length
    const unitStart = this.#units.starts.get(this.#units.starts.count - 1)
    if (this.#stated !== null && this.#soundBytes - unitStart > this.#stated) throw brokenUnit()
    if (packet.isDamaged) this.#splitter.skip(data.length)
    else this.#splitter.take(data)
  }

  /** Takes a packet of padding. @param number place among all packets */
  takePadding(number: number): void {
    this.#spares.take(number)
  }

  /** @throws MalformedFile */
  finish(): TransportSound {
    const { packets, starts, heads, ticks } = this.#units
    const [numbers, packetHeads, soundBytes] = [this.#numbers, this.#heads, this.#soundBytes]
    if (packets.count === 0) throw new MalformedFile('the track has no packets')
    return {
      packets: {
        count: numbers.count,
        numberOf: (packet) => numbers.get(packet),
        payloadAt: (packet) => packetHeads.get(packet) >> 16,
        keptBytes: (packet) => (packetHeads.get(packet) >> 8) & 255,
        counter: (packet) => packetHeads.get(packet) & 15,
        hasPriority: (packet) => (packetHeads.get(packet) & PRIORITY) !== 0,
      },
      units: {
        count: packets.count,
        packetOf: (unit) => (unit < packets.count ? packets.get(unit) : numbers.count),
        startOf: (unit) => (unit < packets.count ? starts.get(unit) : soundBytes),
        headBytes: (unit) => heads.get(unit) >> 1,
        statesLength: (unit) => (heads.get(unit) & 1) === 1,
        ticks: (unit) => ticks.get(unit),
      },
      frames: this.#splitter.finish(),
      spares: this.#spares.finish(),
      isRigid: this.#isRigid,
      isBroken: this.#isBroken,
    }
  }

  #follow(counter: number, payload: Buffer, isDiscontinuous: boolean): void {
    const [last, lastPayload] = [this.#counter, this.#payload]
    this.#counter = counter
    this.#payload = payload
    if (last === null || isDiscontinuous) return
    const expected = payload.length > 0 ? (last + 1) % COUNTERS : last
    if (counter === expected) return
    // Fifteen missing packets leave the same counter.
    if (counter === last && payload.equals(lastPayload)) throw new MalformedFile('packets of the track are there twice')
    this.#break()
  }

  /** The unit does not have the length that it states. */
  #break(): void {
    if (this.#units.packets.count === 0) return
    if (this.#isInUnits) throw new MalformedFile('packets of the track are missing')
    this.#isBroken = true
    this.#stated = null
    this.#splitter.break()
  }

  /** Returns the bytes of its head. */
  #startUnit(payload: Buffer): number {
    const { headBytes, statedBytes, ticks, isRigid } = readUnitHead(payload)
    const { packets, starts, heads, ticks: times } = this.#units
    const last = starts.count - 1
    if (this.#stated !== null && this.#soundBytes - starts.get(last) !== this.#stated) throw brokenUnit()
    this.#stated = statedBytes > 0 ? statedBytes + UNCOUNTED_BYTES - headBytes : null
    this.#isRigid ||= isRigid
    this.#spares.startUnit(this.#splitter.begun)
    packets.push(this.#numbers.count - 1)
    starts.push(this.#soundBytes)
    heads.push(headBytes * 2 + (statedBytes > 0 ? 1 : 0))
    times.push(this.#clock.follow(ticks))
    return headBytes
  }
}

function brokenUnit(): MalformedFile {
  return new MalformedFile('the track has units that do not have the length that they state')
}
