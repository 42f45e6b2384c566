import { PLAIN_BYTES, SYNC } from '../structure/transport-pids.js'

const HEAD_BYTES = 4
/** Bytes of a payload without an adaptation field. */
export const MOST_PAYLOAD_BYTES = PLAIN_BYTES - HEAD_BYTES
const [STARTS_UNIT, PRIORITY] = [0x4000, 0x2000]
const [HAS_FIELD, HAS_PAYLOAD] = [0x20, 0x10]
const STUFFING = 0xff

/** A packet that is written. */
export interface NewTransportPacket {
  readonly pid: number
  readonly startsUnit: boolean
  readonly hasPriority: boolean
  readonly counter: number
  /** Bytes of the old adaptation field that follow its length and stay. */
  readonly keptBytes: number
  readonly payloadBytes: number
}

/** Bytes of a payload beside what stays of an adaptation field. */
export function roomBeside(keptBytes: number): number {
  return keptBytes === 0 ? MOST_PAYLOAD_BYTES : MOST_PAYLOAD_BYTES - 1 - keptBytes
}

/** The bytes of a packet before what stays of its adaptation field, and those from there to the payload: stuffing. */
export function transportHead(packet: NewTransportPacket): { readonly head: Buffer; readonly stuffing: Buffer } {
  const { pid, startsUnit, hasPriority, counter, keptBytes, payloadBytes } = packet
  const fieldBytes = MOST_PAYLOAD_BYTES - payloadBytes
  const control = (fieldBytes > 0 ? HAS_FIELD : 0) | (payloadBytes > 0 ? HAS_PAYLOAD : 0)
  const head = Buffer.alloc(HEAD_BYTES + (fieldBytes > 0 ? 1 : 0))
  head.writeUInt8(SYNC)
  head.writeUInt16BE((startsUnit ? STARTS_UNIT : 0) | (hasPriority ? PRIORITY : 0) | pid, 1)
  head.writeUInt8(control | counter, 3)
  if (fieldBytes > 0) head.writeUInt8(fieldBytes - 1, HEAD_BYTES)
  const stuffing = Buffer.alloc(Math.max(0, fieldBytes - 1 - keptBytes), STUFFING)
  // The first byte of a field has its flags.
  if (keptBytes === 0 && stuffing.length > 0) stuffing[0] = 0
  return { head, stuffing }
}
