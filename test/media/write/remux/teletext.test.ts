import { readFile, writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { probe } from '../../../../src/media/probe/probe.js'
import { rehearseMux } from '../../../../src/media/verify/rehearse-mux.js'
import { ffmpeg, picture, type TestFolder, testFolder, tone } from '../../../helpers/media-factory.js'
import { syncOffsets, writtenFile } from '../../../helpers/written-file.js'

let folder: TestFolder
beforeAll(async () => {
  folder = await testFolder()
})
afterAll(() => folder.remove())

const PACKET_BYTES = 188
const [PICTURE_PID, TELETEXT_PID] = [0x100, 0x1f2]
const TICKS_PER_PICTURE = 3600

const pidOf = (packet: Buffer) => packet.readUInt16BE(1) & 0x1fff
const isStart = (packet: Buffer) => (packet.readUInt8(1) & 0x40) !== 0

/** The checksum of MPEG-2 tables. */
function crcOf(section: Buffer): number {
  let crc = 0xffff_ffff
  for (const byte of section) {
    crc ^= byte << 24
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000_0000 ? (crc << 1) ^ 0x04c1_1db7 : crc << 1
  }
  return crc >>> 0
}

function packetOf(pid: number, counter: number, payload: Buffer): Buffer {
  const packet = Buffer.alloc(PACKET_BYTES, 0xff)
  packet.writeUInt8(0x47, 0)
  packet.writeUInt16BE(0x4000 | pid, 1)
  packet.writeUInt8(0x10 | (counter & 15), 3)
  payload.copy(packet, 4)
  return packet
}

/** A page of teletext (ETSI EN 300 472): a header of 45 bytes, and three lines of 46. */
function pageAt(ticks: bigint): Buffer {
  const header = Buffer.alloc(45, 0xff)
  Buffer.from([0, 0, 1, 0xbd, 0, 178, 0x84, 0x80, 0x24]).copy(header)
  const places = [0x21n | ((ticks >> 29n) & 0xen), ticks >> 22n, 1n | ((ticks >> 14n) & 0xfen), ticks >> 7n]
  for (const [place, value] of [...places, 1n | ((ticks << 1n) & 0xfen)].entries()) {
    header.writeUInt8(Number(value & 0xffn), 9 + place)
  }
  const line = Buffer.concat([Buffer.from([2, 44, 0xe7, 0xe4]), Buffer.alloc(42, 0x40)])
  return Buffer.concat([header, Buffer.from([0x10]), line, line, line])
}

/** The table of the program with a stream of teletext, in the place of the old one. */
function withTeletextEntry(packet: Buffer): Buffer {
  const start = 5
  const length = packet.readUInt16BE(start + 1) & 0xfff
  const entry = Buffer.from([6, 0xe1, 0xf2, 0xf0, 7, 0x56, 5, 0x64, 0x65, 0x75, 9, 0])
  const section = Buffer.concat([packet.subarray(start, start + 3 + length - 4), entry])
  section.writeUInt16BE(0xb000 | (length + entry.length), 1)
  const crc = Buffer.alloc(4)
  crc.writeUInt32BE(crcOf(section))
  return packetOf(pidOf(packet), packet.readUInt8(3), Buffer.concat([Buffer.from([0]), section, crc]))
}

/** A transport stream with a page of teletext for each picture, at its time. */
function withTeletext(stream: Buffer, firstTicks: bigint): Buffer {
  const made: Buffer[] = []
  let pages = 0
  for (let at = 0; at < stream.length; at += PACKET_BYTES) {
    const packet = stream.subarray(at, at + PACKET_BYTES)
    const isProgram = isStart(packet) && packet.readUInt16BE(4) === 2
    made.push(isProgram ? withTeletextEntry(packet) : packet)
    if (pidOf(packet) !== PICTURE_PID || !isStart(packet)) continue
    made.push(packetOf(TELETEXT_PID, pages, pageAt(firstTicks + BigInt(TICKS_PER_PICTURE * pages))))
    pages += 1
  }
  return Buffer.concat(made)
}

it('keeps the times that pages of teletext state', async () => {
  const path = folder.file('teletext.ts')
  // The clock of the stream runs 0.7 s ahead of its pictures, as in a broadcast.
  await ffmpeg(...picture(4), ...tone(4, 48_000, 2), '-c:v', 'mpeg2video', '-c:a', 'mp2', path)
  const plain = await probe(path)
  await writeFile(path, withTeletext(await readFile(path), BigInt(Math.round(plain.startSec * 90_000))))
  const media = await probe(path)
  expect(media.streams.map(({ codec }) => codec)).toEqual(['mpeg2video', 'mp2', 'dvb_teletext'])
  expect(media.streams[2]?.startSec).toBeCloseTo(plain.startSec, 2)
  const { plan, part, verified } = await writtenFile(path)
  await rehearseMux(plan, { downmixed: new Set() })
  expect(plan.losses).toEqual([])
  for (const offsetSamples of syncOffsets(verified)) expect(Math.abs(offsetSamples ?? 99)).toBeLessThan(48)
  const output = await probe(part, { writtenAs: 'ts' })
  const startOf = ({ streams }: typeof output) => (streams[2]?.startSec ?? 0) - (streams[0]?.startSec ?? 0)
  expect(startOf(output)).toBeCloseTo(startOf(media), 3)
})
