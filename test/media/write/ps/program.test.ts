import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { ffmpeg, ffprobeJson, picture } from '../../../helpers/media-factory.js'
import { folderOfTests } from '../../../helpers/system/folder-of-tests.js'
import { bytesWriting, syncOffsets, writtenFile } from '../../../helpers/written-file.js'
import { changedPackets, packetsOf } from './read-program.js'

const folder = folderOfTests()

const run = promisify(execFile)

/** Bytes of each frame of the sound. */
async function packetSizes(path: string): Promise<readonly string[]> {
  const { packets } = await ffprobeJson(path, '-select_streams', 'a', '-show_entries', 'packet=size')
  return (packets as { readonly size: string }[]).map(({ size }) => size)
}

/** A sound that resembles itself at no other time. */
const sweep = ['-f', 'lavfi', '-i', 'aevalsrc=0.4*sin(2*PI*t*(200+150*t))|0.3*sin(2*PI*t*(300+90*t)):s=48000:d=3']

async function film(name: string, ...options: readonly string[]): Promise<string> {
  const path = folder.file(name)
  await ffmpeg(...picture(3, '352x288'), ...sweep, '-c:v', 'mpeg2video', ...options, path)
  return path
}

it.each([
  ['MP2', 'mp2.vob', ['-c:a', 'mp2', '-b:a', '192k', '-f', 'vob'], 0x1c0],
  ['MP2 in packs of MPEG-1', 'mpeg1.mpg', ['-c:v', 'mpeg1video', '-c:a', 'mp2', '-f', 'mpeg'], 0x1c0],
  ['AC-3 of a DVD', 'dvd.vob', ['-c:a', 'ac3', '-b:a', '192k', '-f', 'dvd'], 0x80],
  ['MP2 of a VCD, with frames of two sizes', 'vcd.mpg', ['-target', 'pal-vcd'], 0x1c0],
  ['MP2 of an SVCD, with frames of two sizes', 'svcd.mpg', ['-target', 'pal-svcd'], 0x1c0],
  ['MP3', 'mp3.vob', ['-c:a', 'mp3', '-b:a', '192k', '-f', 'vob'], 0x1c0],
  ['AC-3 of a camera', 'camera.mod', ['-c:a', 'ac3', '-b:a', '256k', '-f', 'vob'], 0x80],
] as const)('replaces %s, and no other byte', async (_name, name, options, id) => {
  const path = await film(name, ...options)
  const ends = Buffer.from([0, 0, 1, 0xb9])
  await writeFile(path, Buffer.concat([await readFile(path), ends]))
  const { plan, part, verified } = await writtenFile(path)
  const { writer, census } = bytesWriting(plan)
  expect(writer).toBe('program')
  expect(plan.losses).toEqual([])
  expect(census.filter(({ fate }) => fate === 'lost')).toEqual([])
  expect(census.filter(({ fate }) => fate === 'kept').map((entry) => entry.path)).toContain('end code')
  for (const offsetSamples of syncOffsets(verified)) expect(Math.abs(offsetSamples ?? 99)).toBeLessThan(2)
  expect(changedPackets(await readFile(path), await readFile(part))).toEqual([id])
})

it('fills up frames of a lower bit rate, so that a decoder reads the sound of that rate', async () => {
  const path = await film('decoded.mpg', '-target', 'pal-vcd')
  const { part } = await writtenFile(path)
  const sizes = (await packetSizes(path)).join()
  expect((await packetSizes(part)).join()).toBe(sizes)
  expect(sizes).toMatch(/731,732|732,731/)
  const { stderr } = await run('ffmpeg', ['-v', 'warning', '-nostdin', '-i', part, '-map', '0:a', '-f', 'null', '-'])
  expect(stderr).toBe('')
})

it('replaces the second sound of a DVD, and keeps the first', async () => {
  const sounds = ['-map', '0:v', '-map', '1:a', '-map', '1:a', '-c:a', 'ac3', '-b:a', '192k', '-f', 'dvd']
  const path = await film('two.vob', ...sounds)
  const { plan, part, verified } = await writtenFile(path, { replaced: [1] })
  expect(bytesWriting(plan).writer).toBe('program')
  for (const offsetSamples of syncOffsets(verified)) expect(Math.abs(offsetSamples ?? 99)).toBeLessThan(2)
  expect(changedPackets(await readFile(path), await readFile(part))).toEqual([0x81])
})

it('replaces the sound of a part of a recording, which begins and ends within a frame', async () => {
  const path = await film('cut.vob', '-c:a', 'mp2', '-b:a', '192k', '-bf', '0', '-g', '1', '-f', 'vob')
  const bytes = await readFile(path)
  await writeFile(path, bytes.subarray(2048 * 40, -2048 * 10 - 700))
  const { plan, part, verified } = await writtenFile(path)
  expect(bytesWriting(plan).writer).toBe('program')
  syncOffsets(verified)
  expect(changedPackets(await readFile(path), await readFile(part))).toEqual([0x1c0])
})

it.each([
  [
    'frames of two sizes',
    ['-c:a', 'mp2', '-b:a', '192k', '-ar', '44100'],
    null,
    'new frames may have other sizes than the old ones',
  ],
  ['DTS', ['-c:a', 'dca', '-strict', '-2'], null, 'dts has no frames to replace'],
  ['checksums', ['-c:a', 'mp2'], [7, 0x02], 'the track states checksums of its old bytes'],
  ['encryption', ['-c:a', 'mp2'], [6, 0x10], 'the track is encrypted'],
] as const)('leaves a sound with %s to ffmpeg, and says why', async (name, options, change, reason) => {
  const path = await film(`${name.replaceAll(' ', '-')}.vob`, ...options, '-f', 'vob')
  const bytes = await readFile(path)
  const third = packetsOf(bytes).filter(({ id }) => id === 0x1c0)[2]
  if (change && third) {
    const [place, mask] = change
    bytes[third.start + place] = (bytes[third.start + place] ?? 0) | mask
    await writeFile(path, bytes)
  }
  const { plan } = await writtenFile(path)
  expect(plan.writing).toMatchObject({ kind: 'remux', declined: [{ writer: 'program', reason }] })
})

it('leaves a sound with a gap to ffmpeg, which fills it with silence', async () => {
  const path = await film('gap.vob', '-c:a', 'mp2', '-b:a', '192k', '-f', 'vob')
  const bytes = await readFile(path)
  const sounds = packetsOf(bytes).filter(({ id }) => id === 0x1c0)
  const gone = new Set(sounds.slice(8, 16).map(({ start }) => start))
  const packets = packetsOf(bytes).filter(({ start }) => !gone.has(start))
  await writeFile(path, Buffer.concat(packets.map(({ start, end }) => bytes.subarray(start, end))))
  const { plan } = await writtenFile(path)
  expect(plan.writing.kind).toBe('remux')
})

it('replaces AC-3 that begins within a frame, whose first frames ffmpeg reads late', async () => {
  const whole = folder.file('whole.vob')
  const voice = ['-f', 'lavfi', '-i', 'aevalsrc=0.4*sin(2*PI*t*(200+150*t))*lt(t\\,1.1):s=48000:d=2']
  await ffmpeg(...picture(2, '352x288'), ...voice, '-c:v', 'mpeg2video', '-c:a', 'ac3', '-f', 'dvd', whole)
  const bytes = await readFile(whole)
  const packBytes = 2048
  const soundPacks = Array.from({ length: bytes.length / packBytes }, (_, pack) => pack * packBytes).filter(
    (start) => bytes.readUInt32BE(start + 14) === 0x1bd,
  )
  const path = folder.file('cut.vob')
  // The last packs with a voice: no later sound tells its place.
  await writeFile(path, bytes.subarray(soundPacks[5]))
  const { plan, verified } = await writtenFile(path)
  expect(bytesWriting(plan).writer).toBe('program')
  expect(syncOffsets(verified)[0]).toBe(0)
})
