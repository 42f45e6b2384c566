import { MalformedFile } from '../../probe/malformed-file.js'
import { ticksAt } from '../pes/unit-clock.js'
import { PLAIN_BYTES } from '../structure/transport-pids.js'

/** A packet of a sound (ISO/IEC 13818-1, 2.4.3). Places count from its sync byte. */
export interface SoundPacket {
  readonly startsUnit: boolean
  readonly hasPriority: boolean
  readonly counter: number
  /** First byte of the payload; {@link PLAIN_BYTES} if there is none. */
  readonly payloadAt: number
  /** Bytes of the adaptation field behind its length that say something: flags, clocks, private data. Others are stuffing. */
  readonly keptBytes: number
  /** The receiver could not correct it. */
  readonly isDamaged: boolean
  /** The counter may start again. */
  readonly isDiscontinuous: boolean
  /** The adaptation field has parts that belong to this packet alone. */
  readonly isRigid: boolean
}

const HEAD_BYTES = 4
const CLOCK_BYTES = 6
/** `parts` count packets up to a splice, or state rates. */
const FLAGS = { discontinuity: 0x80, clock: 0x10, oldClock: 0x08, privateData: 0x02, parts: 0x05 }

/** Reads the head of a packet. @throws MalformedFile for one that is encrypted */
export function readSoundPacket(bytes: Buffer, at: number): SoundPacket {
  const [first, control] = [bytes[at + 1] as number, bytes[at + 3] as number]
  if (control >> 6 !== 0) throw new MalformedFile('the track is encrypted')
  const [hasField, hasPayload] = [(control & 0x20) !== 0, (control & 0x10) !== 0]
  if (!hasField && !hasPayload) throw unknownPacket()
  const field = hasField ? readField(bytes, at, hasPayload) : NO_FIELD
  // A film has millions of packets: spreading made its plan ten times as slow.
  return {
    startsUnit: (first & 0x40) !== 0 && hasPayload,
    hasPriority: (first & 0x20) !== 0,
    counter: control & 15,
    payloadAt: field.payloadAt,
    keptBytes: field.keptBytes,
    isDamaged: (first & 0x80) !== 0,
    isDiscontinuous: field.isDiscontinuous,
    isRigid: field.isRigid,
  }
}

type Field = Pick<SoundPacket, 'payloadAt' | 'keptBytes' | 'isDiscontinuous' | 'isRigid'>

const NO_FIELD: Field = { payloadAt: HEAD_BYTES, keptBytes: 0, isDiscontinuous: false, isRigid: false }

/** Reads the adaptation field of a packet. */
function readField(bytes: Buffer, at: number, hasPayload: boolean): Field {
  const length = bytes[at + HEAD_BYTES] as number
  const room = PLAIN_BYTES - HEAD_BYTES - 1
  if (hasPayload ? length >= room : length !== room) throw unknownPacket()
  const payloadAt = HEAD_BYTES + 1 + length
  const flags = length > 0 ? (bytes[at + HEAD_BYTES + 1] as number) : 0
  const clocks = ((flags & FLAGS.clock) !== 0 ? CLOCK_BYTES : 0) + ((flags & FLAGS.oldClock) !== 0 ? CLOCK_BYTES : 0)
  const isRigid = (flags & FLAGS.parts) !== 0
  const privateBytes = (flags & FLAGS.privateData) !== 0 ? 1 + (bytes[at + HEAD_BYTES + 2 + clocks] as number) : 0
  const keptBytes = flags === 0 ? 0 : isRigid ? length : 1 + clocks + privateBytes
  if (keptBytes > length) throw unknownPacket()
  return { payloadAt, keptBytes, isDiscontinuous: (flags & FLAGS.discontinuity) !== 0, isRigid }
}

function unknownPacket(): MalformedFile {
  return new MalformedFile('packets of the track have a form that voxmux does not know')
}

/** The head of a packetized elementary stream (2.4.3.6). */
export interface UnitHead {
  /** Bytes up to the sound. */
  readonly headBytes: number
  /** Bytes that follow the field with this number; 0 if it is not stated. */
  readonly statedBytes: number
  /** In ticks of 90 kHz, without its wraps; NaN if none is stated. */
  readonly ticks: number
  /** It states rates of bytes, or when its bytes arrive, which another number of them would make wrong. */
  readonly isRigid: boolean
}

/** Bytes before those that the head of a unit counts. */
export const UNCOUNTED_BYTES = 6
const LEAST_HEAD_BYTES = 9

/** Reads the head of a unit from the payload of its first packet. @throws MalformedFile */
export function readUnitHead(payload: Buffer): UnitHead {
  if (payload.length < LEAST_HEAD_BYTES || payload.readUIntBE(0, 3) !== 1) throw unknownUnit()
  const [id, first, second] = [payload[3] as number, payload[6] as number, payload[7] as number]
  const isSound = (id >= 0xc0 && id <= 0xdf) || id === 0xbd || id === 0xfd
  if (!isSound || first >> 6 !== 2) throw unknownUnit()
  if ((first & 0x30) !== 0) throw new MalformedFile('the track is encrypted')
  const times = second >> 6
  const [hasRates, hasTricksOrSum] = [(second & 0x30) !== 0, (second & 0x0a) !== 0]
  if (hasTricksOrSum) throw new MalformedFile('the track states checksums of its old bytes, or plays at another speed')
  const headBytes = LEAST_HEAD_BYTES + (payload[8] as number)
  const timeBytes = times === 3 ? 10 : times === 2 ? 5 : 0
  if (headBytes > payload.length || times === 1 || (payload[8] as number) < timeBytes) throw unknownUnit()
  const statedBytes = payload.readUInt16BE(4)
  if (statedBytes > 0 && statedBytes < headBytes - UNCOUNTED_BYTES) throw unknownUnit()
  const ticks = times === 0 ? Number.NaN : ticksAt(payload, LEAST_HEAD_BYTES)
  return { headBytes, statedBytes, ticks, isRigid: hasRates }
}

function unknownUnit(): MalformedFile {
  return new MalformedFile('the track has units in a form that voxmux does not know')
}
