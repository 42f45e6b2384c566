import { expect, it } from 'vitest'
import { malformedReason } from '../../../../src/media/probe/malformed-file.js'
import type { BytePlan } from '../../../../src/media/write/byte-plan.js'
import { censusFaults } from '../../../../src/media/write/census.js'
import type { MadeFrames } from '../../../../src/media/write/pes/timed-frames.js'
import { transportSound } from '../../../../src/media/write/ts/transport.js'
import fc from '../../../helpers/properties.js'
import { folderOfTests } from '../../../helpers/system/folder-of-tests.js'
import {
  frameTicks,
  madeFrames,
  madeTransport,
  numbers,
  PADDING_PID,
  SOUND_PID,
  type TransportForm,
} from './made-transport.js'
import { wantedOf } from './made-wanted.js'
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
  padding: fc.constantFrom(0, 0, 1, 14),
  firstTicks: fc.constantFrom(0, 126_000, WRAP - 12_000, WRAP - 1),
  cutStart: fc.constantFrom(0, 0, 1, 5),
  cutEnd: fc.constantFrom(0, 0, 1, 3),
})

/** Its last unit holds the rest of a frame, and the time of one that is cut off. */
const CUT_UNIT: TransportForm = {
  ...{ seed: 1_858_155_094, codec: 'aac', size: 188, frames: 11, programs: 1, unit: { bytes: 1603 } },
  ...{ statesLength: false, statesDecoding: false, clockOnSound: false, padding: 0, firstTicks: 0 },
  ...{ cutStart: 0, cutEnd: 3 },
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
    const wanted = await wantedOf(folder.file('made.ts'), form, bytes, first)
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
    const own = form.padding > 0 ? [SOUND_PID, PADDING_PID] : [SOUND_PID]
    const others = (packets: typeof before) =>
      packets.map((packet) => (own.includes(packet.pid) ? null : packet.bytes)).filter((packet) => packet !== null)
    expect(Buffer.concat(others(after)).equals(Buffer.concat(others(before)))).toBe(true)
    expect(others(after).length).toBe(others(before).length)
    if (form.padding > 0) expectSamePlaces(before, after, form.size)
    const arrivals = after.map((packet) => (form.size === 192 ? packet.bytes.readUInt32BE() : 0))
    expect(arrivals).toEqual([...arrivals].sort((one, other) => one - other))
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
  await fc.assert(property, { numRuns: 500, examples: [[CUT_UNIT]] })
  expect(taken).toBeGreaterThan(150)
})

/** Packets of the sound take places of padding, and no other. */
function expectSamePlaces(
  before: ReturnType<typeof readPackets>,
  after: ReturnType<typeof readPackets>,
  size: TransportForm['size'],
): void {
  const arrival = (packet: (typeof before)[number] | undefined) => packet?.bytes.toString('hex', 0, size - 188)
  const moved = after.filter((packet, place) => {
    const old = before[place]
    // A few that find no padding come at the end.
    if (!old) return packet.pid !== SOUND_PID
    const isPlace = old.pid === packet.pid || (packet.pid === SOUND_PID && old.pid === PADDING_PID)
    return !isPlace || arrival(packet) !== arrival(old)
  })
  expect(moved).toEqual([])
}

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
    const wanted = await wantedOf(folder.file('made.ts'), form, bytes, 0)
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
    const own = form.padding > 0 ? [SOUND_PID, PADDING_PID] : [SOUND_PID]
    const others = (packets: ReturnType<typeof readPackets>) =>
      Buffer.concat(packets.filter(({ pid }) => !own.includes(pid)).map((packet) => packet.bytes))
    const before = readPackets(bytes.subarray(lead, end), form.size)
    const after = readPackets(output.subarray(lead, output.length - (bytes.length - end)), form.size)
    expect(others(after).equals(others(before))).toBe(true)
    expect(output.subarray(0, lead).equals(bytes.subarray(0, lead))).toBe(true)
    expect(output.subarray(output.length - (bytes.length - end)).equals(bytes.subarray(end))).toBe(true)
    expect(brokenCounters(after, SOUND_PID)).toBe(brokenCounters(before, SOUND_PID))
  })
  await fc.assert(property, { numRuns: 500 })
})
