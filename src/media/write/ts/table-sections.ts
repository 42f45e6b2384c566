import { PLAIN_BYTES } from '../structure/transport-pids.js'

const HEAD_BYTES = 3
const STUFFING = 0xff

/** Joins the sections of tables from the packets of a PID (ISO/IEC 13818-1, 2.4.4). */
export class TableSections {
  #open: Buffer | null = null

  /** The sections that end with a packet. @param at its sync byte */
  take(bytes: Buffer, at: number): readonly Buffer[] {
    const control = bytes[at + 3] as number
    if ((control & 0x10) === 0) return []
    const payload = at + 4 + ((control & 0x20) !== 0 ? 1 + (bytes[at + 4] as number) : 0)
    const end = at + PLAIN_BYTES
    if (payload >= end) return []
    if (((bytes[at + 1] as number) & 0x40) === 0) return this.#add(bytes.subarray(payload, end))
    const first = Math.min(end, payload + 1 + (bytes[payload] as number))
    const ended = this.#add(bytes.subarray(payload + 1, first))
    this.#open = Buffer.alloc(0)
    return [...ended, ...this.#add(bytes.subarray(first, end))]
  }

  #add(bytes: Buffer): readonly Buffer[] {
    if (!this.#open) return []
    const ended: Buffer[] = []
    this.#open = Buffer.concat([this.#open, bytes])
    while (this.#open.length >= HEAD_BYTES && this.#open[0] !== STUFFING) {
      const length = HEAD_BYTES + (this.#open.readUInt16BE(1) & 0xfff)
      if (this.#open.length < length) return ended
      ended.push(this.#open.subarray(0, length))
      this.#open = this.#open.subarray(length)
    }
    if (this.#open[0] === STUFFING) this.#open = null
    return ended
  }
}
