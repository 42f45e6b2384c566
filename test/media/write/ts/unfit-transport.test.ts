import { writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { layOutTransport } from '../../../../src/media/write/ts/lay-out-transport.js'
import { transportSound } from '../../../../src/media/write/ts/transport.js'
import { type TestFolder, testFolder } from '../../../helpers/media-factory.js'
import { checksumOf } from '../../checksum.js'
import { madeTransport, OTHER_SOUND_PID, PADDING_PID, SOUND_PID, type TransportForm } from './made-transport.js'
import { wantedOf } from './made-wanted.js'
import { readPackets } from './read-transport.js'

let folder: TestFolder
beforeAll(async () => {
  folder = await testFolder()
})
afterAll(() => folder.remove())

const plain: TransportForm = {
  ...{ seed: 7, codec: 'aac', size: 188, frames: 20, programs: 1, unit: { frames: 2 } },
  ...{ statesLength: true, statesDecoding: false },
  ...{ clockOnSound: false, padding: 0, firstTicks: 90_000, cutStart: 0, cutEnd: 0 },
}

async function reasonFor(form: TransportForm, bytes: Buffer): Promise<string | null> {
  const wanted = await wantedOf(folder.file('made.ts'), form, bytes, 0)
  const parsed = await transportSound.parse(wanted.media)
  if (parsed === null || typeof parsed === 'string') return parsed
  const survey = transportSound.survey(parsed, wanted)
  return survey.kind === 'declines' ? survey.reason : null
}

/** Packets of a PID with a change. @param place among them */
function withChange(bytes: Buffer, pid: number, place: number, change: (packet: Buffer) => void): Buffer {
  const copy = Buffer.from(bytes)
  const own = readPackets(copy, 188).filter((packet) => packet.pid === pid)
  change(own.at(place)?.bytes as Buffer)
  return copy
}

const damaged = (byte: number, mask: number) => (packet: Buffer) => {
  packet[byte] = (packet[byte] as number) | mask
}

it.each([
  [
    'a damaged packet',
    damaged(1, 0x80),
    'packets of the track are missing or damaged, and new frames may have other sizes',
  ],
  ['an encrypted packet', damaged(3, 0x80), 'the track is encrypted'],
  [
    'a missing packet',
    (packet: Buffer) => {
      packet.writeUInt16BE(0x1abc, 1)
    },
    'packets of the track are missing or damaged, and new frames may have other sizes',
  ],
])('leaves a track with %s to the next writer', async (_name, change, reason) => {
  const { bytes } = madeTransport(plain)
  expect(await reasonFor(plain, bytes)).toBe(null)
  expect(await reasonFor(plain, withChange(bytes, SOUND_PID, 5, change))).toBe(reason)
})

it.each([
  [
    'AAC at a constant rate',
    { padding: 1 },
    'its packets come at a constant rate, and new frames may have other sizes',
  ],
  [
    'AAC with arrival times and padding',
    { size: 192, padding: 1 },
    'its packets state when they arrive, and new frames may have other sizes',
  ],
] as const)('leaves %s to the next writer', async (_name, more, reason) => {
  const form = { ...plain, ...more }
  expect(await reasonFor(form, madeTransport(form).bytes)).toBe(reason)
})

it('takes AAC with arrival times', async () => {
  const form = { ...plain, size: 192 } as const
  expect(await reasonFor(form, madeTransport(form).bytes)).toBe(null)
})

it('takes AAC at a constant rate if there is padding enough for all frames', async () => {
  const form = { ...plain, padding: 14 }
  expect(await reasonFor(form, madeTransport(form).bytes)).toBe(null)
})

it('takes a file whose recorder left zeros behind the last packet', async () => {
  const { bytes } = madeTransport(plain)
  for (const length of [100, 188, 200_000]) {
    const wanted = await wantedOf(folder.file('made.ts'), plain, Buffer.concat([bytes, Buffer.alloc(length)]), 0)
    const parsed = await transportSound.parse(wanted.media)
    if (parsed === null || typeof parsed === 'string') throw new Error('not read')
    const survey = transportSound.survey(parsed, wanted)
    const last = survey.kind === 'takes' ? [...survey.census].at(-1) : undefined
    expect(last).toMatchObject({ path: 'trailing bytes', fate: 'kept', start: bytes.length, length })
  }
})

it('gives the same padding to no two tracks, even if the encoder writes frames of other sizes than its bit rate gives', async () => {
  const form = { ...plain, padding: 14 }
  const { bytes, frames } = madeTransport(form)
  const wanted = await wantedOf(folder.file('made.ts'), form, bytes, 0)
  const parsed = await transportSound.parse(wanted.media)
  const sound = parsed === null || typeof parsed === 'string' ? undefined : parsed.sounds.get(SOUND_PID)
  if (parsed === null || typeof parsed === 'string' || typeof sound !== 'object') throw new Error('not read')
  const made = { count: frames.length, startOf: (frame: number) => frame * 500 }
  const track = (donor: number) => ({ pid: SOUND_PID, sound, made, donor })
  expect(() => layOutTransport(parsed, [track(0)])).not.toThrow()
  expect(() => layOutTransport(parsed, [track(0), track(1)])).toThrow('whose size does not match')
})

it('remembers no more padding than new frames may need, as a day of film is full of it', async () => {
  const form = { ...plain, frames: 300, padding: 60 }
  const { bytes } = madeTransport(form)
  const padding = readPackets(bytes, 188).filter(({ pid }) => pid === PADDING_PID).length
  const wanted = await wantedOf(folder.file('made.ts'), form, bytes, 0)
  const parsed = await transportSound.parse(wanted.media)
  const sound = parsed === null || typeof parsed === 'string' ? undefined : parsed.sounds.get(SOUND_PID)
  if (parsed === null || typeof parsed === 'string' || typeof sound !== 'object') throw new Error('not read')
  expect(transportSound.survey(parsed, wanted).kind).toBe('takes')
  expect(sound.spares.firstOf(sound.units.count)).toBeLessThan(padding / 2)
})

it('takes units that state when they are decoded', async () => {
  const form = { ...plain, statesDecoding: true }
  expect(await reasonFor(form, madeTransport(form).bytes)).toBe(null)
})

it('keeps true descriptors, and leaves a track with others to the next writer', async () => {
  for (const [descriptors, reason] of [
    [[0x52, 1, 7], null],
    [[0x7c, 2, 0x51, 0], null],
    [[0x0e, 3, 0xc0, 1, 1], 'its descriptor 14 may state facts about the old sound'],
    [[0x2b, 3, 1, 2, 3], 'its descriptor 43 may state facts about the old sound'],
    [[0xc3, 1, 0], 'its descriptor 195 may state facts about the old sound'],
  ] as const) {
    expect(await reasonFor(plain, madeTransport(plain, descriptors).bytes)).toBe(reason)
  }
})

/** The table of a program whose picture ends and another begins. */
function withOtherPicture(packet: Buffer): Buffer {
  const changed = Buffer.from(packet)
  const start = changed.indexOf(Buffer.of(0, 2, 0xb0)) + 1
  const end = start + 3 + (changed.readUInt16BE(start + 1) & 0xfff) - 4
  changed[changed.indexOf(0x1b, start + 12) + 2] = 0x77
  changed.writeUInt32BE(checksumOf(changed.subarray(start, end), 0xffff_ffff), end)
  return changed
}

it('checks descriptors that change, and leaves a file to the next writer if a stream changes its type', async () => {
  const { bytes } = madeTransport(plain)
  const joined = (packet: Buffer) => reasonFor(plain, Buffer.concat([bytes, packet]))
  const table = (...form: Parameters<typeof madeTransport>) =>
    readPackets(madeTransport(...form).bytes, 188).find(({ pid }) => pid === 0x1000)?.bytes as Buffer
  expect(await joined(table(plain, [0x52, 1, 9]))).toBe(null)
  expect(await joined(table(plain, [0xc3, 1, 0]))).toBe('its descriptor 195 may state facts about the old sound')
  expect(await joined(withOtherPicture(table(plain)))).toBe(null)
  expect(await joined(table({ ...plain, codec: 'mp2' }))).toBe('the tables of its programs change')
  await expect(joined(Buffer.alloc(188, 1))).rejects.toThrow('is not at its place')
})

it('leaves a file whose tables never repeat to the next writer', async () => {
  const { bytes } = madeTransport(plain)
  const packets = readPackets(madeTransport(plain, [0x52, 4, 9, 9, 9, 9]).bytes, 188)
  const packet = packets.find(({ pid }) => pid === 0x1000)?.bytes as Buffer
  const place = packet.indexOf(Buffer.of(0x52, 4, 9, 9, 9, 9)) + 2
  const others = Array.from({ length: 10_001 }, (_, number) => {
    const other = Buffer.from(packet)
    other.writeUInt32BE(number, place)
    return other
  })
  expect(await reasonFor(plain, Buffer.concat([bytes, ...others.slice(0, 99)]))).toBe(null)
  expect(await reasonFor(plain, Buffer.concat([bytes, ...others]))).toBe('the tables of its programs change')
})

it('leaves a track with a gap in its clock to the next writer', async () => {
  const { bytes } = madeTransport(plain)
  const late = madeTransport({ ...plain, firstTicks: plain.firstTicks + 200_000 }).bytes
  const form = { ...plain, seed: plain.seed }
  const joined = Buffer.concat([bytes, late])
  expect(await reasonFor(form, joined)).toMatch(/missing|gaps/)
})

it('keeps a second sound', () => {
  const { bytes } = madeTransport({ ...plain, programs: 2 })
  expect(readPackets(bytes, 188).some(({ pid }) => pid === OTHER_SOUND_PID)).toBe(true)
})

it('ends the reading of new frames when a job is aborted', async () => {
  const { frames } = madeTransport(plain)
  const path = folder.file('made.aac')
  await writeFile(path, Buffer.concat(frames))
  const { media, tracks } = await wantedOf(folder.file('made.ts'), plain, madeTransport(plain).bytes, 0)
  const [parsed, track] = [await transportSound.parse(media), tracks[0]]
  if (parsed === null || typeof parsed === 'string' || !track) throw new Error('not read')
  const read = (signal?: AbortSignal) => transportSound.readDonor(path, track, signal, parsed)
  expect((await read()).count).toBe(frames.length)
  await expect(read(AbortSignal.abort())).rejects.toThrow()
})
