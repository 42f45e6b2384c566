import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { probe } from '../../../../src/media/probe/probe.js'
import { transportSound } from '../../../../src/media/write/ts/transport.js'
import { ffmpeg, ffprobeJson, picture } from '../../../helpers/media-factory.js'
import { folderOfTests } from '../../../helpers/system/folder-of-tests.js'
import { bytesWriting, syncOffsets, writtenFile } from '../../../helpers/written-file.js'
import { brokenCounters, readPackets, readUnits } from './read-transport.js'

const run = promisify(execFile)

const folder = folderOfTests()

/** A sound that resembles itself at no other time. */
const sweep = ['-f', 'lavfi', '-i', 'aevalsrc=0.4*sin(2*PI*t*(200+150*t))|0.3*sin(2*PI*t*(300+90*t)):s=48000:d=3']

async function film(name: string, ...options: readonly string[]): Promise<string> {
  const path = folder.file(name)
  await ffmpeg(...picture(3), ...sweep, '-c:v', 'mpeg2video', ...options, path)
  return path
}

/** Packets of things that ffmpeg does not write: a guide, a cue of an advertisement, the time of day. */
function withGuide(bytes: Buffer, size: 188 | 192): Buffer {
  const made: Buffer[] = []
  for (const [place, { bytes: packet }] of readPackets(bytes, size).entries()) {
    made.push(packet)
    if (place % 50 !== 10) continue
    for (const pid of [0x12, 0x14, 0x333]) {
      const more = Buffer.alloc(size, place % 256)
      packet.copy(more, 0, 0, size - 188)
      more.set([0x47, pid >> 8, pid & 255, 0x10 | ((place / 50) & 15)], size - 188)
      made.push(more)
    }
  }
  return Buffer.concat(made)
}

/** Warnings of ffmpeg, which reads all packets and decodes all sound. */
async function warnings(path: string): Promise<string> {
  const { stderr } = await run('ffmpeg', ['-v', 'warning', '-nostdin', '-f', 'mpegts', '-i', path, '-f', 'null', '-'])
  return stderr.replaceAll(/0x[0-9a-f]+/g, '')
}

/** Times of packets as ffprobe reads them. */
async function packetTimes(path: string, stream: string): Promise<unknown> {
  const fields = ['-show_entries', 'packet=pts,dts,duration', '-select_streams', stream]
  return (await ffprobeJson(path, '-f', 'mpegts', ...fields)).packets
}

it.each([
  ['MP2', 'mp2.ts', ['-c:a', 'mp2', '-b:a', '192k'], 0],
  ['MP2 at a constant rate', 'constant.ts', ['-c:a', 'mp2', '-muxrate', '2M'], 0],
  ['MP2 with frames of two sizes', 'mp2-44.ts', ['-c:a', 'mp2', '-ar', '44100'], null],
  ['MP2 with arrival times', 'mp2.m2ts', ['-c:a', 'mp2', '-b:a', '192k'], 0],
  ['MP3', 'mp3.ts', ['-c:a', 'libmp3lame', '-b:a', '128k'], 0],
  ['AC-3', 'ac3.ts', ['-c:a', 'ac3', '-b:a', '256k'], 0],
  ['AC-3 with its descriptor', 'dvb.ts', ['-c:a', 'ac3', '-mpegts_flags', 'system_b'], 0],
  ['E-AC-3', 'eac3.ts', ['-c:a', 'eac3', '-b:a', '224k'], 0],
  ['AC-3 with arrival times', 'ac3.m2ts', ['-c:a', 'ac3'], 0],
  ['AAC', 'aac.ts', ['-c:a', 'aac', '-b:a', '128k'], null],
  ['AAC with a frame in each unit', 'small.ts', ['-c:a', 'aac', '-pes_payload_size', '1'], null],
  ['AAC while the clock wraps around', 'wrap.ts', ['-c:a', 'aac', '-output_ts_offset', '95442'], null],
] as const)('replaces %s, and no other packet', async (_name, name, options, growth) => {
  const path = await film(name, ...options)
  const size = name.endsWith('m2ts') ? 192 : 188
  await writeFile(path, withGuide(await readFile(path), size))
  // It compares packets and their times, and finds the sound in the output.
  const { media, plan, part, verified } = await writtenFile(path)
  const { writer, census } = bytesWriting(plan)
  expect(writer).toBe('transport')
  expect(plan.losses).toEqual([])
  for (const offsetSamples of syncOffsets(verified)) expect(Math.abs(offsetSamples ?? 99)).toBeLessThan(2)
  const pid = media.streams[1]?.id ?? -1
  expect(census.filter(({ fate }) => fate === 'lost')).toEqual([])
  const kept = census.filter(({ fate }) => fate === 'kept').map((entry) => entry.path)
  expect(kept).toEqual(expect.arrayContaining(['PID 0 (PAT)', 'PID 18 (EIT)', 'PID 20 (TDT)', 'PID 819']))
  const [input, output] = [await readFile(path), await readFile(part)]
  const [before, after] = [readPackets(input, size), readPackets(output, size)]
  const others = (packets: typeof before) => packets.filter((packet) => packet.pid !== pid).map(({ bytes }) => bytes)
  expect(Buffer.concat(others(after)).equals(Buffer.concat(others(before)))).toBe(true)
  expect(brokenCounters(after, pid)).toBe(0)
  // ffmpeg reads a unit without its length too.
  const lengths = (packets: typeof before) =>
    readUnits(packets, pid).map(({ statedBytes, actualBytes }) => statedBytes > 0 && statedBytes - actualBytes)
  expect(lengths(after)).toEqual(lengths(before))
  if (growth === null) expect(output.length - input.length).toBeLessThan(input.length / 10)
  else expect(output.length - input.length).toBe(growth)
  expect(await warnings(part)).toBe(await warnings(path))
  for (const stream of ['v', 'a']) expect(await packetTimes(part, stream)).toEqual(await packetTimes(path, stream))
})

it('replaces AAC at a constant rate, with packets of padding where it needs more', async () => {
  const path = await film('padded.ts', '-c:a', 'aac', '-b:a', '128k', '-muxrate', '3M')
  const { plan, part, verified } = await writtenFile(path)
  expect(bytesWriting(plan).writer).toBe('transport')
  for (const offsetSamples of syncOffsets(verified)) expect(Math.abs(offsetSamples ?? 99)).toBeLessThan(2)
  const [before, after] = [readPackets(await readFile(path), 188), readPackets(await readFile(part), 188)]
  // The last units of the file find no padding behind them.
  expect(after.length - before.length).toBeLessThan(40)
  const [sound, padding] = [0x101, 0x1fff]
  const moved = before.filter(({ bytes, pid }, place) => pid !== sound && !after[place]?.bytes.equals(bytes))
  expect(moved.length).toBeGreaterThan(0)
  expect(moved.every(({ pid }) => pid === padding)).toBe(true)
  expect(brokenCounters(after, sound)).toBe(0)
  expect(await warnings(part)).toBe(await warnings(path))
  for (const stream of ['v', 'a']) expect(await packetTimes(part, stream)).toEqual(await packetTimes(path, stream))
})

it('replaces AAC with arrival times, and lets further packets arrive with those before them', async () => {
  const plain = readPackets(await readFile(await film('unstamped.ts', '-c:a', 'aac', '-b:a', '128k')), 188)
  const path = folder.file('stamped.m2ts')
  await writeFile(
    path,
    Buffer.concat(plain.flatMap(({ bytes }, place) => [Buffer.of(0), uint24BE(place * 100), bytes])),
  )
  const { plan, part, verified } = await writtenFile(path)
  expect(bytesWriting(plan).writer).toBe('transport')
  expect(plan.losses).toEqual([])
  for (const offsetSamples of syncOffsets(verified)) expect(Math.abs(offsetSamples ?? 99)).toBeLessThan(2)
  const [before, after] = [readPackets(await readFile(path), 192), readPackets(await readFile(part), 192)]
  expect(after.length).toBeGreaterThan(before.length)
  const others = (packets: typeof before) => packets.filter(({ pid }) => pid !== 0x101).map(({ bytes }) => bytes)
  expect(Buffer.concat(others(after)).equals(Buffer.concat(others(before)))).toBe(true)
  const arrivals = after.map(({ bytes }) => bytes.readUInt32BE())
  expect(arrivals.every((arrival, place) => arrival >= (arrivals[place - 1] ?? 0))).toBe(true)
  expect(brokenCounters(after, 0x101)).toBe(0)
  for (const stream of ['v', 'a']) expect(await packetTimes(part, stream)).toEqual(await packetTimes(path, stream))
})

it('keeps private data beside packets of AAC, whose new frames have other sizes', async () => {
  const path = await film('private.ts', '-c:a', 'aac', '-pes_payload_size', '1')
  const bytes = await readFile(path)
  let marks = 0
  for (let at = 0; at < bytes.length; at += 188) {
    const [isSound, hasField] = [(bytes.readUInt16BE(at + 1) & 0x1fff) === 0x101, (bytes.readUInt8(at + 3) & 0x20) > 0]
    if (!isSound || !hasField || bytes.readUInt8(at + 4) < 8 || bytes[at + 5] !== 0) continue
    // The flag of private data, and a boundary point of a cable network.
    Buffer.concat([Buffer.from([2, 6]), Buffer.from('EBP'), uint24BE(marks)]).copy(bytes, at + 5)
    marks += 1
  }
  expect(marks).toBeGreaterThan(50)
  await writeFile(path, bytes)
  const { plan, part, verified } = await writtenFile(path)
  expect(bytesWriting(plan).writer).toBe('transport')
  for (const offsetSamples of syncOffsets(verified)) expect(Math.abs(offsetSamples ?? 99)).toBeLessThan(2)
  const after = await readFile(part)
  for (let mark = 0; mark < marks; mark++) {
    expect(after.indexOf(Buffer.concat([Buffer.from('EBP'), uint24BE(mark)]))).toBeGreaterThan(0)
  }
  expect(await warnings(part)).toBe(await warnings(path))
})

function uint24BE(value: number): Buffer {
  return Buffer.from([value >> 16, (value >> 8) & 255, value & 255])
}

it('replaces two sounds of a film, and keeps a third', async () => {
  const sounds = ['-map', '1:a', '-map', '1:a', '-map', '1:a', '-c:a:0', 'aac', '-c:a:1', 'ac3', '-c:a:2', 'mp2']
  const path = await film('three.ts', '-map', '0:v', ...sounds)
  const { plan, part, verified } = await writtenFile(path, { replaced: [0, 1] })
  expect(bytesWriting(plan).writer).toBe('transport')
  expect(verified.streams.map(({ fate }) => fate)).toEqual(['copied', 'replaced', 'replaced', 'copied'])
  expect(verified.sync).toHaveLength(2)
  for (const { places } of verified.sync)
    for (const { offsetSamples } of places) expect(Math.abs(offsetSamples ?? 99)).toBeLessThan(2)
  expect(await warnings(part)).toBe('')
})

it('replaces the sound of a recording that begins and ends within a unit', async () => {
  const path = await film('cut.ts', '-c:a', 'mp2', '-pes_payload_size', '2000', '-bf', '0', '-g', '1')
  const packets = readPackets(await readFile(path), 188)
  const tables = packets.slice(0, 3).map(({ bytes }) => bytes)
  const inside = packets.findIndex(({ pid, starts }, place) => place > 300 && pid === 0x101 && !starts)
  await writeFile(path, Buffer.concat([...tables, ...packets.slice(inside, -20).map(({ bytes }) => bytes)]))
  const { plan, part, verified } = await writtenFile(path)
  expect(bytesWriting(plan).writer).toBe('transport')
  syncOffsets(verified)
  expect((await readFile(part)).length).toBe((await readFile(path)).length)
})

/** Puts bytes behind each packet, as on the wire of a broadcast. */
async function withTrailers(path: string, trailer: Buffer): Promise<void> {
  const packets = readPackets(await readFile(path), 188)
  await writeFile(path, Buffer.concat(packets.flatMap(({ bytes }) => [bytes, trailer])))
}

it('leaves packets with error correction to ffmpeg, and says why', async () => {
  const path = await film('corrected.ts', '-c:a', 'mp2')
  await withTrailers(path, Buffer.alloc(16, 0x5a))
  const { plan } = await writtenFile(path)
  const reason = 'checksums of its old bytes follow each packet'
  expect(plan.writing.declined).toEqual([{ writer: 'transport', reason }])
})

it('declines error correction at the first packet', async () => {
  const path = await film('corrected-broken.ts', '-c:a', 'mp2')
  await withTrailers(path, Buffer.alloc(16, 0x5a))
  const media = await probe(path)
  await writeFile(path, Buffer.concat([await readFile(path), Buffer.alloc(204)]))
  await expect(transportSound.parse({ ...media, sizeBytes: media.sizeBytes + 204 })).rejects.toThrow('checksums')
})

it.each([0, 0xff])('keeps bytes of %i behind each packet', async (filler) => {
  const path = await film(`filled-${filler}.ts`, '-c:a', 'mp2', '-b:a', '192k')
  await withTrailers(path, Buffer.alloc(16, filler))
  const { plan, part, verified } = await writtenFile(path)
  expect(bytesWriting(plan).writer).toBe('transport')
  syncOffsets(verified)
  const [input, output] = [await readFile(path), await readFile(part)]
  expect(output.length).toBe(input.length)
  for (let at = 188; at < output.length; at += 204) {
    if (!output.subarray(at, at + 16).equals(Buffer.alloc(16, filler))) throw new Error(`changed at ${at}`)
  }
})

it('keeps two programs', async () => {
  const path = folder.file('two.ts')
  const programs = ['-program', 'title=One:program_num=1:st=0', '-program', 'title=Two:program_num=2:st=1']
  await ffmpeg(...sweep, ...sweep, '-map', '0', '-map', '1', '-c:a', 'mp2', ...programs, path)
  const { plan, part } = await writtenFile(path, { replaced: [1] })
  expect(bytesWriting(plan).writer).toBe('transport')
  expect(plan.losses).toEqual([])
  const read = async (file: string) => (await ffprobeJson(file, '-f', 'mpegts', '-show_programs')).programs
  expect(await read(part)).toEqual(await read(path))
})

it.each([
  ['DTS', 'dts.ts', ['-c:a', 'dca', '-strict', '-2'], 'dts has no frames to replace'],
  ['LATM', 'latm.ts', ['-c:a', 'aac', '-mpegts_flags', 'latm'], 'aac_latm has no frames to replace'],
])('leaves %s to ffmpeg, and says why', async (_name, name, options, reason) => {
  const { plan } = await writtenFile(await film(name, ...options))
  expect(plan.writing.kind).toBe('remux')
  expect(plan.writing.declined).toEqual([{ writer: 'transport', reason }])
})
