import { readFile, writeFile } from 'node:fs/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import { decodePcm } from '../../../../src/media/pcm/decode-pcm.js'
import type { PcmStream } from '../../../../src/media/pcm/pcm.js'
import { readSamples } from '../../../../src/media/pcm/pcm-samples.js'
import { probe } from '../../../../src/media/probe/probe.js'
import { errorPower } from '../../../../src/media/write/splice/measure-joint.js'
import { type DonorSource, SplicedPackets } from '../../../../src/media/write/splice/spliced-packets.js'
import type { Writing } from '../../../../src/media/write/writing.js'
import { ffmpeg, picture } from '../../../helpers/media-factory.js'
import { audioPackets, splicedFile } from '../../../helpers/spliced-file.js'
import { folderOfTests } from '../../../helpers/system/folder-of-tests.js'

const folder = folderOfTests()
/** AAC in MP4. */
let whole: string
beforeAll(async () => {
  whole = folder.file('whole.m4a')
  await ffmpeg(...sound(), ...AAC, whole)
})

const SEC = 6
/** A rising tone in noise that is the same in every run: it resembles itself at no other time. */
const wave = (from: number) => `0.3*sin(2*PI*t*(${from}+60*t))+0.05*(random(${from})-0.5)`
const sound = (rate = 48_000) => ['-f', 'lavfi', '-i', `aevalsrc=${wave(200)}|${wave(330)}:s=${rate}:d=${SEC}`]
const film = ['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '12']

async function samplesOf(stream: PcmStream): Promise<Float64Array> {
  const buffers: Buffer[] = []
  for await (const buffer of stream.buffers()) buffers.push(buffer)
  return readSamples(Buffer.concat(buffers), stream.format.sample)
}

/** Requires that packets differ only in the spans, and that the sound is the wanted one with the coder's noise. */
async function expectSpliced(path: string, done: Awaited<ReturnType<typeof splicedFile>>, spans: number) {
  const { splice, part, parts, wanted } = done
  if (splice?.kind !== 'spliced') throw new Error(splice?.reason ?? 'not spliced')
  const [before, after] = await Promise.all([audioPackets(path), audioPackets(part)])
  expect(before).toHaveLength(splice.count)
  expect(after.map(({ pts }) => pts)).toEqual(before.map(({ pts }) => pts))
  const changed = before.flatMap(({ hash }, place) => (after[place]?.hash === hash ? [] : [place]))
  const isReplaced = (place: number) => splice.replaced.some(({ from, to }) => place >= from && place <= to)
  expect(changed.length).toBeGreaterThan(0)
  expect(changed.every(isReplaced)).toBe(true)
  expect(splice.replaced).toHaveLength(spans)

  const output = await samplesOf(decodePcm(await probe(part), { audioIndex: 0 }))
  const target = await samplesOf(wanted)
  const { channels, sampleRate } = wanted.format
  const step = Math.round(sampleRate / 200)
  /** Power of the noise against that of the sound around it. */
  const noiseAt = (from: number, to: number) => {
    const cut = (sound: Float64Array, first: number, end: number) =>
      sound.subarray(Math.max(0, first) * channels, end * channels)
    const [is, was, around] = [
      cut(output, from, to),
      cut(target, from, to),
      cut(target, from - 2 * step, to + 2 * step),
    ]
    const length = Math.min(is.length, was.length)
    const level = errorPower(around, new Float64Array(around.length))
    return errorPower(is.subarray(0, length), was.subarray(0, length)) / (level + 1e-6)
  }
  const noise = Math.max(...parts.map(({ startSample, endSample }) => noiseAt(startSample, endSample)))
  // A tenth of a second around each end, in steps that a click would stand out of.
  const edges = parts.flatMap(({ startSample, endSample }) => [startSample, endSample])
  for (const edge of edges.filter((sample) => sample > 0 && sample < SEC * sampleRate)) {
    for (let at = Math.max(0, edge - 20 * step); at < edge + 20 * step; at += step) {
      expect(noiseAt(at, at + step)).toBeLessThan(6 * noise + 1e-4)
    }
  }
}

// Noise that a decoder makes up would differ from one decoding to the next.
const AAC = ['-c:a', 'aac', '-b:a', '128k', '-aac_pns', '0']
const AC3 = ['-c:a', 'ac3', '-b:a', '192k', '-dialnorm', '-24']
const OPUS = ['-c:a', 'libopus', '-b:a', '96k']
const MP3 = ['-c:a', 'libmp3lame', '-b:a', '128k', '-ar', '44100']
const EAC3 = ['-c:a', 'eac3', '-b:a', '192k']

type Parts = readonly (readonly [number, number])[]
type Row = readonly [name: string, file: string, isFilm: boolean, options: readonly string[], parts?: Parts]

const TWO: Parts = [
  [1, 1.3],
  [4.5, 4.8],
]

const MP3_ALONE: Row = ['MP3', 'plain.mp3', false, MP3]
/** Each way to write packets. MP4 in one piece is what changes in other places below. */
const COMMON: readonly Row[] = [
  ['AAC in fragments', 'fragments.mp4', true, [...AAC, '-movflags', 'cmaf+delay_moov']],
  ['AAC in Matroska, twice', 'aac.mkv', true, AAC, TWO],
  ['AC-3 alone', 'plain.ac3', false, AC3],
  ['Opus alone', 'plain.opus', false, OPUS],
  ['Opus of 40 ms in WebM', 'long.webm', false, [...OPUS, '-frame_duration', '40']],
  MP3_ALONE,
]
/** Only in the soak: other pairs of them. */
const RARE: readonly Row[] = [
  ['AAC in ADTS', 'plain.aac', false, AAC],
  ['AAC in M4A', 'aac.m4a', false, AAC],
  ['AAC in MOV', 'aac.mov', true, [...AAC, '-movie_timescale', '600']],
  ['E-AC-3 in MP4', 'eac3.mp4', true, EAC3],
  ['Opus of 10 ms alone', 'short.opus', false, [...OPUS, '-frame_duration', '10']],
  ['Opus in WebM', 'opus.webm', false, OPUS],
  ['AAC in MP4 with a picture', 'aac.mp4', true, AAC],
  ['AC-3 in Matroska', 'ac3.mkv', true, AC3],
  ['AC-3 in MP4', 'ac3.mp4', true, AC3],
  ['E-AC-3 alone', 'plain.eac3', false, EAC3],
  ['E-AC-3 in Matroska', 'eac3.mkv', true, EAC3],
  ['Opus in MP4', 'opus.mp4', true, OPUS],
  ['MP3 of a varying rate', 'varying.mp3', false, ['-c:a', 'libmp3lame', '-q:a', '3']],
  ['MP3 of MPEG-2', 'low.mp3', false, ['-c:a', 'libmp3lame', '-b:a', '48k', '-ar', '22050', '-ac', '1']],
  ['MP3 in Matroska', 'mp3.mkv', true, MP3],
]

/** What a row becomes, made once for all that look at it. */
const made = new Map<Row, ReturnType<typeof makeRow>>()
function rowMade(row: Row): ReturnType<typeof makeRow> {
  const known = made.get(row) ?? makeRow(row)
  made.set(row, known)
  return known
}

async function makeRow([, name, isFilm, options, parts = [[2.5, 3.2]]]: Row) {
  const path = folder.file(name)
  const rate = name.startsWith('aac.m4a') ? 44_100 : 48_000
  await ffmpeg(...(isFilm ? picture(SEC) : []), ...sound(rate), ...(isFilm ? film : []), ...options, path)
  return { path, parts, done: await splicedFile(path, parts) }
}

describe('a lossy track that changes in a part', () => {
  const rows = process.env.VOXMUX_SOAK ? [...COMMON, ...RARE] : COMMON
  it.each(rows.map((row) => [row[0], row] as const))('keeps all other packets of %s', async (_name, row) => {
    const { path, parts, done } = await rowMade(row)
    await expectSpliced(path, done, parts.length)
    const verified = await done.verify()
    expect(verified.checks).toContain('packets outside the changed parts')
    expect(done.plan.notes).toContainEqual(expect.stringContaining('only its packets around the regenerated parts'))
    expect(done.plan.indexedTracks).toEqual([0])
  })

  type Place = readonly [string, parts: Parts, spans: number]
  const places: readonly Place[] = [
    [
      'at its start, and for less than a packet',
      [
        [0, 1],
        [3, 3.008],
      ],
      2,
    ],
  ]
  const further: readonly Place[] = [
    ['at its start', [[0, 1]], 1],
    ['twice', TWO, 2],
    ['for less than a packet', [[3, 3.008]], 1],
    ['at its end', [[5, SEC]], 1],
    [
      'in parts that touch',
      [
        [2, 2.4],
        [2.4, 2.8],
      ],
      1,
    ],
  ]

  it.each(process.env.VOXMUX_SOAK ? [...places, ...further] : places)(
    'keeps all other packets if it changes %s',
    async (_name, parts, spans) => {
      const done = await splicedFile(whole, parts)
      await expectSpliced(whole, done, spans)
      await done.verify()
    },
  )

  it('states the size of an MP3 in its first frame, with a checksum', async () => {
    const { path, done } = await rowMade(MP3_ALONE)
    for (const file of await Promise.all([path, done.part].map((name) => readFile(name)))) {
      const start = file.indexOf('Info') - 36
      const info = file.subarray(start)
      expect(info.readUInt32BE(36 + 12)).toBe(info.length)
      // CRC-16 of the 190 bytes before it, as ffmpeg wrote it into the input.
      expect(info.readUInt16BE(190)).toBe(crc16(info.subarray(0, 190)))
    }
  })

  it('keeps packets that an edit list hides at the end of the track', async () => {
    const path = folder.file('cut.m4a')
    const file = await readFile(whole)
    const edits = file.indexOf('elst')
    // The duration of its only edit, in ms.
    file.writeUInt32BE(5000, edits + 12)
    await writeFile(path, file)
    const { splice, part, verify } = await splicedFile(path, [[2, 3]])
    const shown = await audioPackets(part)
    expect(splice).toMatchObject({ kind: 'spliced' })
    expect(shown.length).toBeLessThan(splice?.kind === 'spliced' ? splice.count : 0)
    await verify()
  })

  it.each<readonly [string, (source: DonorSource) => DonorSource, RegExp]>([
    [
      'all new packets are a packet late',
      (source) =>
        moved(
          source,
          (from) => from + 1,
          (list) => list,
        ),
      /outside/,
    ],
    ['new packets are in the wrong order', (source) => moved(source, (from) => from, rotated), /in a changed part/],
  ])('fails verification if %s', async (_name, damage, why) => {
    const done = await splicedFile(whole, [[2, 3]], (writing): Writing => {
      return { ...writing, layOut: (sources, signal) => writing.layOut(sources.map(damage), signal) }
    })
    await expect(done.verify()).rejects.toThrow(why)
    // The voice is paid for: the track is then encoded from start to end.
    const { muxed } = await done.verifyOrWhole()
    expect(muxed.voices[0]?.splice).toMatchObject({ kind: 'whole', reason: expect.stringMatching(why) })
  })

  it.each<readonly [string, string, readonly string[], RegExp]>([
    [
      'code books of another encoder',
      'other.ogg',
      ['-c:a', 'vorbis', '-strict', '-2'],
      /start to end, because its code books are not those of this encoder/,
    ],
    [
      'a constant bit rate and no header',
      'bare.mp3',
      [...MP3, '-write_xing', '0'],
      /start to end, because no header could state that its bit rate varies/,
    ],
  ])('encodes a track with %s from start to end, and says why', async (_name, name, options, why) => {
    const path = folder.file(name)
    await ffmpeg(...sound(), ...options, path)
    const { plan, splice, verify } = await splicedFile(path, [[2, 3]])
    expect(splice).toBeNull()
    expect(plan.notes).toContainEqual(expect.stringMatching(why))
    await verify()
  })

  it.each<readonly [string, string, readonly string[], Parts, RegExp]>([
    [
      'its packets last longer than those of the encoder',
      'long.mka',
      [...OPUS, '-frame_duration', '80'],
      [[2, 3]],
      /longer than 60 ms/,
    ],
    ['the part reaches over a short track', 'short.m4a', [...AAC, '-t', '0.2'], [[0, 0.2]], /cover the track/],
    [
      'little of a short track is not in the part',
      'brief.mp3',
      [...MP3, '-t', '0.15'],
      [[0.045, 0.09]],
      /too little of/,
    ],
  ])('is encoded from start to end if %s', async (_name, name, options, parts, why) => {
    const path = folder.file(name)
    await ffmpeg(...sound(), ...options, path)
    const { splice, verify } = await splicedFile(path, parts)
    expect(splice).toMatchObject({ kind: 'whole', reason: expect.stringMatching(why) })
    await verify()
  })
})

function crc16(bytes: Buffer): number {
  const bits = [...bytes].flatMap((byte) => Array.from({ length: 8 }, (_, bit) => (byte >> bit) & 1))
  return bits.reduce((crc, bit) => ((crc ^ bit) & 1 ? (crc >>> 1) ^ 0xa001 : crc >>> 1), 0)
}

type Packets = SplicedPackets['swaps'][number]['packets']

function moved(
  source: DonorSource,
  place: (from: number) => number,
  order: (packets: Packets) => Packets,
): DonorSource {
  if (source.kind === 'file') return source
  const swaps = source.packets.swaps.map(({ from, to, packets, surplusSamples }) => {
    return { from: place(from), to: place(to), packets: order(packets), surplusSamples }
  })
  return { ...source, packets: new SplicedPackets(source.track.packets, swaps) }
}

function rotated(packets: Packets): Packets {
  return [...packets.slice(1), ...packets.slice(0, 1)]
}
