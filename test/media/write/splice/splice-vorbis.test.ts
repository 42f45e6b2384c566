import { execFile } from 'node:child_process'
import { open } from 'node:fs/promises'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { decodePcm } from '../../../../src/media/pcm/decode-pcm.js'
import { readSamples } from '../../../../src/media/pcm/pcm-samples.js'
import { probe } from '../../../../src/media/probe/probe.js'
import { oggPageAt } from '../../../../src/media/write/frames/ogg-pages.js'
import type { Coding } from '../../../../src/media/write/splice/coding.js'
import { errorPower } from '../../../../src/media/write/splice/measure-joint.js'
import { blockSize, commonJoints, samplesOfBlocks } from '../../../../src/media/write/splice/vorbis-blocks.js'
import { ffmpeg, picture } from '../../../helpers/media-factory.js'
import { collectPcm } from '../../../helpers/sound/pcm-buffers.js'
import { audioPackets, splicedFile } from '../../../helpers/spliced-file.js'
import { folderOfTests } from '../../../helpers/system/folder-of-tests.js'

const folder = folderOfTests()

const SEC = 8
/** A tone that rises in noise, with an attack every third of a second: blocks become short before each. */
const wave = (from: number) =>
  `0.2*sin(2*PI*t*(${from}+40*t))+0.04*(random(${from})-0.5)+0.5*lt(mod(t\\,0.31)\\,0.003)*(random(7)-0.5)`
const sound = (channels: number, rate: number) => {
  const waves = [200, 330].slice(0, channels).map(wave).join('|')
  return ['-f', 'lavfi', '-i', `aevalsrc=${waves}:s=${rate}:d=${SEC}`]
}

type Parts = readonly (readonly [number, number])[]
interface Row {
  readonly file: string
  readonly input: readonly string[]
  readonly options: readonly string[]
  readonly parts: Parts
}

const MIDDLE: Parts = [[3, 3.6]]
const COMMON: readonly Row[] = [
  {
    file: 'quality.ogg',
    input: sound(2, 48_000),
    options: ['-q:a', '3'],
    parts: [
      [1.5, 1.8],
      [6, 6.5],
    ],
  },
  {
    file: 'film.ogv',
    input: [...picture(SEC), ...sound(2, 48_000)],
    options: ['-c:v', 'libtheora', '-q:a', '3'],
    parts: MIDDLE,
  },
  { file: 'rate.webm', input: sound(2, 44_100), options: ['-b:a', '128k'], parts: [[0, 0.7]] },
  { file: 'mono.oga', input: sound(1, 48_000), options: ['-q:a', '5'], parts: [[7.2, SEC]] },
]
const RARE: readonly Row[] = [
  { file: 'start.ogg', input: sound(1, 44_100), options: ['-q:a', '3'], parts: [[0, 0.7]] },
  { file: 'end.webm', input: sound(1, 44_100), options: ['-q:a', '5'], parts: [[7.2, SEC]] },
  { file: 'middle.mkv', input: sound(2, 48_000), options: ['-q:a', '8'], parts: MIDDLE },
  { file: 'low.ogg', input: sound(1, 22_050), options: ['-q:a', '2'], parts: MIDDLE },
  { file: 'one-size.ogg', input: sound(1, 8_000), options: ['-q:a', '2'], parts: MIDDLE },
  { file: 'rate.ogg', input: sound(2, 44_100), options: ['-b:a', '128k'], parts: MIDDLE },
]

/** Requires that packets and sound differ only in the spans, and that these hold the wanted sound. */
async function expectSpliced(path: string, done: Awaited<ReturnType<typeof splicedFile>>, spans: number) {
  const { splice, part, parts, wanted } = done
  if (splice?.kind !== 'spliced') throw new Error(splice?.reason ?? 'not spliced')
  expect(splice.replaced).toHaveLength(spans)
  const [before, after] = await Promise.all([audioPackets(path), audioPackets(part)])
  const outside = <T>(list: readonly T[], ranges: readonly { from: number; to: number }[]) =>
    list.filter((_, place) => !ranges.some(({ from, to }) => place >= from && place <= to))
  const hashes = (packets: typeof before) => packets.map(({ hash }) => hash)
  const kept = outside(hashes(before), splice.replaced)
  expect(kept.length).toBeGreaterThan(before.length / 3)
  expect(
    outside(
      hashes(after),
      splice.replaced.map(({ made }) => made),
    ),
  ).toEqual(kept)

  const decoded = async (file: string) => {
    const stream = decodePcm(await probe(file), { audioIndex: 0, sample: 'f32' })
    return readSamples(await collectPcm(stream), 'f32')
  }
  const [old, made, target] = [await decoded(path), await decoded(part), readSamples(await collectPcm(wanted), 'f32')]
  const { channels, sampleRate } = wanted.format
  expect(made.length).toBe(old.length)
  const changed = Array.from(made.keys()).filter((place) => made[place] !== old[place])
  const first = Math.min(...parts.map(({ startSample }) => startSample)) / sampleRate
  const last = Math.max(...parts.map(({ endSample }) => endSample)) / sampleRate
  // Joints lie within 24 long blocks before a part, and within 128 behind it.
  expect((changed[0] as number) / channels / sampleRate).toBeGreaterThan(first - 0.6)
  expect((changed.at(-1) as number) / channels / sampleRate).toBeLessThan(last + 3)

  for (const { startSample, endSample } of parts) {
    const near = (sound: Float64Array, lag: number) =>
      sound.subarray((startSample + 2000 + lag) * channels, (endSample - 2000 + lag) * channels)
    const error = (lag: number) => errorPower(near(made, lag), near(target, 0))
    const lags = [-96, -48, -24, 0, 24, 48, 96].map((lag) => error(lag))
    expect(Math.min(...lags)).toBe(error(0))
    expect(error(0)).toBeLessThan(1e-4)
  }
}

/** Requires that every page of an Ogg file states the samples of all packets so far. */
async function expectSteadyPages(path: string, sizes: { short: number; long: number }) {
  const file = await open(path, 'r')
  try {
    const heads: number[] = []
    for (let at = 0, headers = 3; ; ) {
      const page = await oggPageAt(file, at)
      if (!page) break
      const body = Buffer.alloc(page.bodyLength)
      await file.read(body, 0, body.length, at + page.headLength)
      let start = 0
      for (const [place, length] of page.lacing.entries()) {
        if (place === 0 || page.lacing[place - 1] !== 255) {
          if (headers > 0) headers -= (page.flags & 1) === 1 ? 0 : 1
          else heads.push(body[start] as number)
        }
        start += length
      }
      const played = samplesOfBlocks(heads.map((head) => blockSize(head, sizes))).reduce((sum, count) => sum + count, 0)
      if ((page.flags & 4) === 0) expect(Number(page.granule)).toBe(played)
      at += page.headLength + page.bodyLength
    }
  } finally {
    await file.close()
  }
}

describe('a track of Vorbis that changes in a part', () => {
  const rows = process.env.VOXMUX_SOAK ? [...COMMON, ...RARE] : COMMON
  it.each(rows.map((row) => [row.file, row] as const))('keeps all other packets of %s', async (file, row) => {
    const path = folder.file(file)
    await ffmpeg(...row.input, '-c:a', 'libvorbis', ...row.options, path)
    // At so low a level the attacks vanish: new packets are longer and fewer.
    const done = await splicedFile(path, row.parts, undefined, 0.01)
    expect(done.plan.notes).toContainEqual(expect.stringContaining('only its packets around the regenerated parts'))
    await expectSpliced(path, done, row.parts.length)
    const { splice } = done
    const isSameCount =
      splice?.kind === 'spliced' && splice.replaced.every(({ from, to, made }) => to - from === made.to - made.from)
    expect(isSameCount).toBe(file === 'one-size.ogg')
    const { checks } = await done.verify()
    expect(checks).toContain('packets outside the changed parts')
    if (/\.og[ga]$/.test(file) && !/low|one-size/.test(file))
      await expectSteadyPages(done.part, { short: 256, long: 2048 })
  })

  it('keeps the packets of a file by oggenc', async (context) => {
    const [wav, path] = [folder.file('voice.wav'), folder.file('oggenc.ogg')]
    await ffmpeg(...sound(2, 44_100), wav)
    const made = await promisify(execFile)('oggenc', ['-Q', '-q', '4', '-o', path, wav]).catch(() => null)
    if (!made) return context.skip('oggenc is not installed')
    const done = await splicedFile(path, MIDDLE, undefined, 0.01)
    await expectSpliced(path, done, 1)
    await done.verify()
  })
})

describe('blocks of two codings', () => {
  const SIZES = { short: 256, long: 2048 }
  /** First bytes of packets: a short block, and long ones before a long or a short one. */
  const [SHORT, LONG, LONG_TO_SHORT] = [0, 2 + 4 + 8, 2 + 4]
  const coding = (heads: readonly number[], from = 0): Coding => {
    const starts = [from]
    for (const count of samplesOfBlocks(heads.map((head) => blockSize(head, SIZES)))) {
      starts.push((starts.at(-1) as number) + count)
    }
    return {
      ...{ first: 0, end: heads.length, startOf: (packet: number) => starts[packet] as number },
      read: (first, end) => Promise.resolve(heads.slice(first, end).map((head) => Buffer.from([head]))),
    }
  }
  const joints = (old: Coding, made: Coding) => commonJoints(old, made, SIZES, [0, 10_000])

  it('may follow each other behind a block that both have', async () => {
    const old = coding([SHORT, 2 + 8, LONG, LONG, LONG, LONG])
    // The same, but begun a long block later.
    const made = coding([SHORT, 2 + 8, LONG, LONG], 1024)
    expect(await joints(old, made)).toEqual([
      { old: 3, made: 2 },
      { old: 4, made: 3 },
    ])
  })

  it('may not if they lie between each other, or if a window leads to a block of another size', async () => {
    const old = coding([SHORT, 2 + 8, LONG, LONG, LONG])
    expect(await joints(old, coding([SHORT, 2 + 8, LONG, LONG], 128))).toEqual([])
    expect(await joints(coding([LONG, LONG, LONG, LONG]), coding([LONG, LONG_TO_SHORT, SHORT, SHORT]))).toEqual([
      { old: 1, made: 1 },
    ])
  })
})
