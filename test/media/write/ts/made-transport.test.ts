import { writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import type { MediaInfo } from '../../../../src/media/media-info.js'
import { malformedReason } from '../../../../src/media/probe/malformed-file.js'
import type { BytePlan } from '../../../../src/media/write/byte-plan.js'
import { censusFaults } from '../../../../src/media/write/census.js'
import { transportSound } from '../../../../src/media/write/ts/transport.js'
import type { MadeFrames } from '../../../../src/media/write/ts/unit-shares.js'
import type { Wanted } from '../../../../src/media/write/writer.js'
import fc from '../../../helpers/properties.js'
import { folderOfTests } from '../../../helpers/system/folder-of-tests.js'
import {
  frameTicks,
  madeFrames,
  madeTransport,
  numbers,
  OTHER_SOUND_PID,
  SOUND_PID,
  type TransportForm,
} from './made-transport.js'
import { brokenCounters, readPackets, readUnits } from './read-transport.js'

const folder = folderOfTests()

const WRAP = 2 ** 33

const forms: fc.Arbitrary<TransportForm> = fc.record({
  seed: fc.integer({ min: 1, max: 2 ** 31 }),
  codec: fc.constantFrom('mp2', 'aac'),
  size: fc.constantFrom(188, 192),
  frames: fc.integer({ min: 6, max: 24 }),
  programs: fc.constantFrom(1, 2),
  unit: fc.oneof(
    fc.record({ frames: fc.integer({ min: 1, max: 4 }) }),
    fc.record({ bytes: fc.integer({ min: 150, max: 2500 }) }),
  ),
  statesLength: fc.boolean(),
  statesDecoding: fc.boolean(),
  clockOnSound: fc.boolean(),
  padding: fc.boolean(),
  firstTicks: fc.constantFrom(0, 126_000, WRAP - 12_000, WRAP - 1),
  cutStart: fc.constantFrom(0, 0, 1, 5),
  cutEnd: fc.constantFrom(0, 0, 1, 3),
})

/** The file as ffmpeg would describe it. */
async function wantedOf(form: TransportForm, bytes: Buffer, firstFrame: number): Promise<Wanted> {
  const path = folder.file('made.ts')
  await writeFile(path, bytes)
  const startSec = ((form.firstTicks + firstFrame * frameTicks(form.codec)) % WRAP) / 90_000
  const input = { index: 1, audioIndex: 0, kind: 'audio', id: SOUND_PID, codec: form.codec, profile: 'LC', startSec }
  const sound = { ...input, sampleRate: 48_000, channels: 2 }
  const media = { path, sizeBytes: bytes.length, formatName: 'mpegts', startSec, durationSec: 1, streams: [sound] }
  const encoding = { codec: form.codec, encoder: form.codec, lossless: false, bitRate: 192_000, options: [] }
  const tracks = [{ input: sound, encoding, channels: 2 }]
  return { media: media as unknown as MediaInfo, tracks: tracks as unknown as Wanted['tracks'] }
}

function donorOf(frames: readonly Buffer[]): MadeFrames {
  const starts = [0]
  for (const frame of frames) starts.push((starts.at(-1) as number) + frame.length)
  return { count: frames.length, startOf: (frame) => starts[frame] as number }
}

function written({ pieces }: BytePlan, input: Buffer, donor: Buffer): Buffer {
  const made: Uint8Array[] = []
  for (const piece of pieces) {
    if (piece.kind === 'checksum') throw new Error('no checksums here')
    if (piece.kind === 'bytes') made.push(piece.bytes)
    else made.push((piece.kind === 'input' ? input : donor).subarray(piece.start, piece.start + piece.length))
  }
  return Buffer.concat(made)
}

/** First old frame that is whole behind the cut, as this test finds it: by its bytes in what is left of the sound. */
function framesLeft(frames: readonly Buffer[], sound: Buffer): { readonly first: number; readonly count: number } {
  const inside = frames.map((frame) => sound.includes(frame))
  const first = inside.indexOf(true)
  return { first, count: inside.lastIndexOf(true) - first + 1 }
}

let taken = 0

it('puts new frames into the packets of the old ones, and changes nothing else', async () => {
  const property = fc.asyncProperty(forms, async (form) => {
    const { bytes, frames } = madeTransport(form)
    const before = readPackets(bytes, form.size)
    const oldSound = Buffer.concat(readUnits(before, SOUND_PID).map(({ sound }) => sound))
    const { first, count } = framesLeft(frames, oldSound)
    if (first < 0) return
    const wanted = await wantedOf(form, bytes, first)
    const parsed = await transportSound.parse(wanted.media)
    if (parsed === null || typeof parsed === 'string') throw new Error(`not read: ${parsed}`)
    const survey = transportSound.survey(parsed, wanted)
    if (survey.kind === 'declines') {
      expect(survey.reason).toMatch(/^its packets (state when they arrive|come at a constant rate),/)
      return
    }
    taken += 1
    expect(censusFaults(survey.census, bytes.length)).toEqual([])
    const made = madeFrames(form.codec, count + 1, numbers(form.seed + 1))
    const plan = transportSound.layOut(parsed, wanted, [donorOf(made)])
    const output = written(plan, bytes, Buffer.concat(made))
    const after = readPackets(output, form.size)
    const others = (packets: typeof before) =>
      packets.filter(({ pid }) => pid !== SOUND_PID).map((packet) => packet.bytes)
    expect(Buffer.concat(others(after)).equals(Buffer.concat(others(before)))).toBe(true)
    expect(others(after).length).toBe(others(before).length)
    expect(brokenCounters(after, SOUND_PID)).toBe(brokenCounters(before, SOUND_PID))
    const fields = (packets: typeof before) =>
      packets
        .filter(({ pid, field }) => pid === SOUND_PID && field.length > 0)
        .map(({ field }) => field.toString('hex'))
    expect(fields(after)).toEqual(fields(before))
    const [old, now] = [readUnits(before, SOUND_PID), readUnits(after, SOUND_PID)]
    const sound = Buffer.concat(now.map((unit) => unit.sound))
    const lead = form.codec === 'mp2' ? oldSound.indexOf(frames[first] as Buffer) : 0
    const rest = form.codec === 'mp2' ? oldSound.length : Buffer.concat(made.slice(0, count)).length
    expect(sound.subarray(0, lead).equals(oldSound.subarray(0, lead))).toBe(true)
    expect(sound.subarray(lead).equals(Buffer.concat(made).subarray(0, rest - lead))).toBe(true)
    for (const { statedBytes, actualBytes } of now.slice(0, -1)) expect([0, actualBytes]).toContain(statedBytes)
    if (form.codec === 'mp2') expect(bytes.length).toBe(output.length)
    expectTimes(form, now, made, first, lead)
    const heads = (units: typeof old) => units.map(({ head }) => head.toString('hex'))
    // Units of AAC before the first whole frame are gone.
    expect(heads(now)).toEqual(heads(old).slice(old.length - now.length))
    const gone = old.slice(0, old.length - now.length)
    const goneBytes = Buffer.concat(gone.map((unit) => unit.sound)).length
    expect(goneBytes).toBeLessThanOrEqual(oldSound.indexOf(frames[first] as Buffer))
  })
  await fc.assert(property, { numRuns: 500 })
  expect(taken).toBeGreaterThan(150)
})

/** Each unit has the time of the first frame that begins in it. */
function expectTimes(
  form: TransportForm,
  units: ReturnType<typeof readUnits>,
  made: readonly Buffer[],
  first: number,
  lead: number,
): void {
  const starts = made.map((_, frame) => lead + Buffer.concat(made.slice(0, frame)).length)
  let at = 0
  for (const { ticks, sound } of units) {
    const frame = starts.findIndex((start) => start >= at)
    at += sound.length
    if (ticks === null || frame < 0 || (starts[frame] as number) >= at) continue
    const wanted = Math.round(form.firstTicks + (first + frame) * frameTicks(form.codec)) % WRAP
    expect(Math.abs(ticks - wanted)).toBeLessThanOrEqual(1)
  }
}

const damages = fc.record({
  form: forms,
  flips: fc.array(fc.record({ at: fc.nat(), mask: fc.integer({ min: 1, max: 255 }) }), { minLength: 1, maxLength: 6 }),
  cut: fc.nat(400),
})

it('keeps every packet of other PIDs, whatever is damaged', async () => {
  const property = fc.asyncProperty(damages, async ({ form, flips, cut }) => {
    const whole = madeTransport(form).bytes
    const bytes = Buffer.from(whole.subarray(0, whole.length - cut))
    for (const { at, mask } of flips) {
      const place = at % bytes.length
      bytes[place] = (bytes[place] as number) ^ mask
    }
    const wanted = await wantedOf(form, bytes, 0)
    const parsed = await transportSound.parse(wanted.media).catch(malformedReason)
    if (parsed === null || typeof parsed === 'string') return
    const survey = transportSound.survey(parsed, wanted)
    if (survey.kind === 'declines') return
    expect(censusFaults(survey.census, bytes.length)).toEqual([])
    const made = madeFrames(form.codec, form.frames + 1, numbers(form.seed + 1))
    const output = written(transportSound.layOut(parsed, wanted, [donorOf(made)]), bytes, Buffer.concat(made))
    // A first packet without its sync byte stays as leading bytes.
    const lead = parsed.grid.first - (form.size - 188)
    const end = bytes.length - ((bytes.length - lead) % form.size)
    const others = (packets: ReturnType<typeof readPackets>) =>
      Buffer.concat(packets.filter(({ pid }) => pid !== SOUND_PID).map((packet) => packet.bytes))
    const before = readPackets(bytes.subarray(lead, end), form.size)
    const after = readPackets(output.subarray(lead, output.length - (bytes.length - end)), form.size)
    expect(others(after).equals(others(before))).toBe(true)
    expect(output.subarray(0, lead).equals(bytes.subarray(0, lead))).toBe(true)
    expect(output.subarray(output.length - (bytes.length - end)).equals(bytes.subarray(end))).toBe(true)
    expect(brokenCounters(after, SOUND_PID)).toBe(brokenCounters(before, SOUND_PID))
  })
  await fc.assert(property, { numRuns: 500 })
})

const plain: TransportForm = {
  ...{ seed: 7, codec: 'aac', size: 188, frames: 20, programs: 1, unit: { frames: 2 } },
  ...{ statesLength: true, statesDecoding: false },
  ...{ clockOnSound: false, padding: false, firstTicks: 90_000, cutStart: 0, cutEnd: 0 },
}

async function reasonFor(form: TransportForm, bytes: Buffer): Promise<string | null> {
  const wanted = await wantedOf(form, bytes, 0)
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
  ['a damaged packet', damaged(1, 0x80), 'packets of the track are marked as damaged'],
  ['an encrypted packet', damaged(3, 0x80), 'the track is encrypted'],
  [
    'a missing packet',
    (packet: Buffer) => {
      packet.writeUInt16BE(0x1abc, 1)
    },
    'packets of the track are missing',
  ],
])('leaves a track with %s to the next writer', async (_name, change, reason) => {
  const { bytes } = madeTransport(plain)
  expect(await reasonFor(plain, bytes)).toBe(null)
  expect(await reasonFor(plain, withChange(bytes, SOUND_PID, 5, change))).toBe(reason)
})

it.each([
  [
    'AAC at a constant rate',
    { padding: true },
    'its packets come at a constant rate, and new frames may have other sizes',
  ],
  ['AAC with arrival times', { size: 192 }, 'its packets state when they arrive, and new frames may have other sizes'],
] as const)('leaves %s to the next writer', async (_name, more, reason) => {
  const form = { ...plain, ...more }
  expect(await reasonFor(form, madeTransport(form).bytes)).toBe(reason)
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

it('checks descriptors that change, and leaves a file to the next writer if its streams change', async () => {
  const { bytes } = madeTransport(plain)
  const joined = (packet: Buffer) => reasonFor(plain, Buffer.concat([bytes, packet]))
  const table = (...form: Parameters<typeof madeTransport>) =>
    readPackets(madeTransport(...form).bytes, 188).find(({ pid }) => pid === 0x1000)?.bytes as Buffer
  expect(await joined(table(plain, [0x52, 1, 9]))).toBe(null)
  expect(await joined(table(plain, [0xc3, 1, 0]))).toBe('its descriptor 195 may state facts about the old sound')
  expect(await joined(table({ ...plain, codec: 'mp2' }))).toBe('the tables of its programs change')
  await expect(joined(Buffer.alloc(188))).rejects.toThrow('is not at its place')
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
