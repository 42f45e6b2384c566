import { readFile, writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { ffmpeg, ffmpegOutput, picture } from '../../../helpers/media-factory.js'
import { folderOfTests } from '../../../helpers/system/folder-of-tests.js'
import { bytesWriting, syncOffsets, writtenFile } from '../../../helpers/written-file.js'
import { type ReadPacket, readPackets } from './read-transport.js'

const folder = folderOfTests()
const SOUND_PID = 0x101

/** A film whose sound resembles itself at no other time, with a change of its packets. */
async function film(
  name: string,
  options: readonly string[],
  change: (sound: readonly ReadPacket[]) => ReadonlySet<ReadPacket>,
): Promise<string> {
  const path = folder.file(name)
  const sweep = ['-f', 'lavfi', '-i', 'aevalsrc=0.4*sin(2*PI*t*(200+150*t))|0.3*sin(2*PI*t*(300+90*t)):s=48000:d=4']
  await ffmpeg(...picture(4), ...sweep, '-c:v', 'mpeg2video', ...options, path)
  const packets = readPackets(await readFile(path), 188)
  const gone = change(packets.filter(({ pid }) => pid === SOUND_PID))
  await writeFile(path, Buffer.concat(packets.filter((packet) => !gone.has(packet)).map(({ bytes }) => bytes)))
  return path
}

/** Loses some packets in a row at each of these places. */
const losing = (count: number, ...places: readonly number[]) => {
  return (sound: readonly ReadPacket[]) => new Set(places.flatMap((place) => sound.slice(place, place + count)))
}

/** Marks packets as a receiver does if it cannot correct them. */
const damaging = (...places: readonly number[]) => {
  return (sound: readonly ReadPacket[]) => {
    for (const place of places) {
      const { bytes, payload } = sound[place] as ReadPacket
      bytes[1] = (bytes[1] as number) | 0x80
      for (let at = 60; at < payload.length; at += 7) payload[at] = (payload[at] as number) ^ 0x5a
    }
    return new Set<ReadPacket>()
  }
}

/** Samples of a file on its own clock. */
async function samplesOf(path: string): Promise<Float32Array> {
  const clock = 'aresample=async=1:min_comp=0.001:min_hard_comp=0.001:first_pts=0'
  const bytes = await ffmpegOutput('-copyts', '-i', path, '-map', '0:a', '-af', clock, '-ac', '1', '-f', 'f32le', '-')
  return new Float32Array(new Uint8Array(bytes).buffer)
}

const WINDOW = 4800

/** Tenths of a second in which another sound has the same course at the same time. */
function sameWindows(one: Float32Array, other: Float32Array): number {
  let same = 0
  for (let start = 0; start + WINDOW <= one.length; start += WINDOW) {
    const sums = [0, 0, 0]
    for (let at = start; at < start + WINDOW; at++) {
      const [x, y] = [one[at] as number, other[at] ?? 0]
      for (const [place, value] of [x * y, x * x, y * y].entries()) sums[place] = (sums[place] as number) + value
    }
    const [both = 0, own = 0, others = 0] = sums
    if (both > 0.95 * Math.sqrt(own * others) && own > 0) same += 1
  }
  return same
}

const [MP2, AC3] = [
  ['-c:a', 'mp2', '-b:a', '192k'],
  ['-c:a', 'ac3', '-b:a', '192k'],
]

it.each([
  ['MP2 with a lost packet', 'mp2.ts', MP2, losing(1, 200)],
  ['MP2 with several losses, one of which leaves the same counter', 'many.ts', MP2, losing(15, 100, 300, 400)],
  ['MP2 with damaged packets', 'damaged.ts', MP2, damaging(150, 151, 230)],
  ['MP2 at a constant rate', 'constant.ts', [...MP2, '-muxrate', '2M'], losing(3, 250)],
  ['AC-3 with a lost packet', 'ac3.ts', AC3, losing(1, 201)],
  ['AC-3 with a frame in each unit', 'units.ts', [...AC3, '-pes_payload_size', '1'], losing(4, 200, 300)],
  ['AC-3 with a lost second', 'second.ts', AC3, losing(140, 200)],
  ['AC-3 with damaged packets', 'damaged-ac3.ts', AC3, damaging(150, 153, 230)],
] as const)('replaces the whole frames of %s, and no other packet', async (_name, name, options, change) => {
  const path = await film(name, options, change)
  const { plan, part, verified } = await writtenFile(path)
  expect(bytesWriting(plan).writer).toBe('transport')
  expect(plan.losses).toEqual([])
  for (const offsetSamples of syncOffsets(verified)) expect(Math.abs(offsetSamples ?? 0)).toBeLessThan(2)
  const [before, after] = [readPackets(await readFile(path), 188), readPackets(await readFile(part), 188)]
  expect(after).toHaveLength(before.length)
  for (const [place, { pid, bytes, payload, starts }] of before.entries()) {
    const made = after[place] as ReadPacket
    const kept = pid === SOUND_PID ? 188 - payload.length + (starts ? 14 : 0) : 188
    expect(made.bytes.subarray(0, kept).equals(bytes.subarray(0, kept))).toBe(true)
    if (pid === SOUND_PID && payload.length > 60) expect(made.payload.equals(payload)).toBe(false)
  }
  const [old, made] = [await samplesOf(path), await samplesOf(part)]
  expect(Math.abs(made.length - old.length)).toBeLessThan(1600)
  const sounding = sameWindows(old, old)
  expect(sameWindows(old, made)).toBeGreaterThanOrEqual(sounding - 7)
  expect(sounding).toBeGreaterThan(27)
})

it('leaves frames of several sizes with a lost packet to ffmpeg, and says why', async () => {
  const { plan } = await writtenFile(await film('aac.ts', ['-c:a', 'aac'], losing(1, 100)))
  const reason = 'packets of the track are missing or damaged, and new frames may have other sizes'
  expect(plan.writing).toMatchObject({ kind: 'remux', declined: [{ writer: 'transport', reason }] })
})

it('keeps a header before the first packet', async () => {
  const path = await film('header.ts', MP2, () => new Set())
  const header = Buffer.alloc(3000, 'HTTP/1.1 200 OK ')
  await writeFile(path, Buffer.concat([header, await readFile(path)]))
  const { plan, part, verified } = await writtenFile(path)
  expect(bytesWriting(plan).census[0]).toMatchObject({ path: 'leading bytes', fate: 'kept', length: 3000 })
  expect((await readFile(part)).subarray(0, 3000).equals(header)).toBe(true)
  syncOffsets(verified)
})
