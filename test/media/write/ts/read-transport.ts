/** A packet as this reader sees it. */
export interface ReadPacket {
  readonly pid: number
  /** With the bytes before it that say when it arrives. */
  readonly bytes: Buffer
  readonly starts: boolean
  readonly counter: number
  readonly payload: Buffer
  /** Flags and clock of the adaptation field; empty without any. */
  readonly field: Buffer
}

/** A unit of sound. */
export interface ReadUnit {
  readonly statedBytes: number
  readonly actualBytes: number
  /** Ticks of 90 kHz; null without a time. */
  readonly ticks: number | null
  readonly head: Buffer
  readonly sound: Buffer
}

/** Reads every packet; fails for one that is not at its place. */
export function readPackets(bytes: Buffer, size: 188 | 192): readonly ReadPacket[] {
  const packets: ReadPacket[] = []
  for (let at = 0; at < bytes.length; at += size) {
    const whole = bytes.subarray(at, at + size)
    const packet = whole.subarray(size - 188)
    if (packet[0] !== 0x47) throw new Error(`no packet at ${at}`)
    const control = packet.readUInt8(3)
    const fieldLength = (control & 0x20) === 0 ? 0 : 1 + packet.readUInt8(4)
    const flags = fieldLength > 1 ? packet.readUInt8(5) : 0
    packets.push({
      pid: packet.readUInt16BE(1) & 0x1fff,
      bytes: whole,
      starts: (packet.readUInt8(1) & 0x40) !== 0,
      counter: control & 15,
      payload: (control & 0x10) === 0 ? Buffer.alloc(0) : packet.subarray(4 + fieldLength),
      field: flags === 0 ? Buffer.alloc(0) : packet.subarray(5, 6 + ((flags & 0x10) === 0 ? 0 : 6)),
    })
  }
  return packets
}

/** Joins the units of a PID from the first that begins. */
export function readUnits(packets: readonly ReadPacket[], pid: number): readonly ReadUnit[] {
  const units: Buffer[][] = []
  for (const { pid: own, starts, payload } of packets) {
    if (own !== pid || payload.length === 0) continue
    if (starts) units.push([])
    units.at(-1)?.push(payload)
  }
  return units.map((payloads) => {
    const unit = Buffer.concat(payloads)
    const headBytes = 9 + unit.readUInt8(8)
    const hasTime = (unit.readUInt8(7) & 0x80) !== 0
    const at = (place: number) => unit.readUInt16BE(place) >> 1
    const ticks = () => ((unit.readUInt8(9) >> 1) & 7) * 2 ** 30 + at(10) * 2 ** 15 + at(12)
    return {
      statedBytes: unit.readUInt16BE(4),
      actualBytes: unit.length - 6,
      ticks: hasTime ? ticks() : null,
      head: Buffer.concat([unit.subarray(0, 4), unit.subarray(6, headBytes)]),
      sound: unit.subarray(headBytes),
    }
  })
}

/** Number of packets whose counter does not follow that of the packet before. */
export function brokenCounters(packets: readonly ReadPacket[], pid: number): number {
  let last: number | undefined
  let broken = 0
  for (const { pid: own, counter, payload } of packets) {
    if (own !== pid) continue
    const expected = last === undefined ? counter : payload.length > 0 ? (last + 1) % 16 : last
    if (counter !== expected) broken += 1
    last = counter
  }
  return broken
}
