import { stat } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { decodePcm } from '../../../../src/media/pcm/decode-pcm.js'
import { probe } from '../../../../src/media/probe/probe.js'
import { KEYFRAME } from '../../../../src/media/write/matroska/read/block-list.js'
import { readMatroska } from '../../../../src/media/write/matroska/read/matroska-file.js'
import { ffmpeg, ffmpegOutput } from '../../../helpers/media-factory.js'
import { collectPcm } from '../../../helpers/sound/pcm-buffers.js'
import { audioPackets, splicedFile } from '../../../helpers/spliced-file.js'
import { folderOfTests } from '../../../helpers/system/folder-of-tests.js'
import { type Lacing, laceMatroska } from '../matroska/laced-matroska.js'

const folder = folderOfTests()

const SEC = 6
/** A rising tone in noise that is the same in every run: it resembles itself at no other time. */
const wave = (from: number) => `0.3*sin(2*PI*t*(${from}+60*t))+0.05*(random(${from})-0.5)`

const attacks = `aevalsrc=0.2*sin(2*PI*t*300)+0.5*lt(mod(t\\,0.31)\\,0.003)*(random(7)-0.5):s=44100:d=${SEC}`

type Row = readonly [codec: string, lacing: Lacing, rate: number, samples: number | null, options: readonly string[]]
const COMMON: readonly Row[] = [
  ['AAC', 'ebml', 44_100, 1024, ['-c:a', 'aac', '-b:a', '128k', '-aac_pns', '0']],
  ['AC-3', 'fixed', 48_000, 1536, ['-c:a', 'ac3', '-b:a', '192k', '-dialnorm', '-24']],
  ['Vorbis', 'xiph', 48_000, null, ['-c:a', 'libvorbis', '-q:a', '3']],
]
const RARE: readonly Row[] = [
  ['E-AC-3', 'fixed', 48_000, 1536, ['-c:a', 'eac3', '-b:a', '192k']],
  ['Opus', 'ebml', 48_000, null, ['-c:a', 'libopus', '-b:a', '96k']],
  ['AAC', 'xiph', 48_000, 1024, ['-c:a', 'aac', '-b:a', '192k', '-aac_pns', '0']],
  ['MP3', 'xiph', 44_100, 1152, ['-c:a', 'libmp3lame', '-b:a', '128k']],
]

/** True if each block can be decoded by itself, as it says. */
async function areKeyFrames(path: string): Promise<boolean> {
  const [list] = (await readMatroska(path, (await stat(path)).size)).blocks.values()
  return (
    list !== undefined &&
    Array.from({ length: list.count }, (_, place) => list.flags(place)).every((flags) => flags & KEYFRAME)
  )
}

describe('a track of Matroska whose blocks hold several packets', () => {
  const rows = process.env.VOXMUX_SOAK ? [...COMMON, ...RARE] : COMMON
  it.each(rows)(
    'keeps all packets of %s outside a changed part (%s lacing)',
    async (codec, lacing, rate, samples, options) => {
      const [plain, path] = [folder.file('plain.mka'), folder.file(`${codec}-${lacing}.mka`)]
      await ffmpeg('-f', 'lavfi', '-i', `aevalsrc=${wave(200)}|${wave(330)}:s=${rate}:d=${SEC}`, ...options, plain)
      await laceMatroska(plain, path, lacing, samples && samples / rate)
      const before = await audioPackets(path)
      expect(before.map(({ hash }) => hash)).toEqual((await audioPackets(plain)).map(({ hash }) => hash))

      const done = await splicedFile(path, [[2.5, 3.2]])
      const { splice } = done
      if (splice?.kind !== 'spliced') throw new Error(splice?.reason ?? 'not spliced')
      const after = await audioPackets(done.part)
      const [{ from, to, made }] = splice.replaced as [(typeof splice.replaced)[number]]
      const outside = (packets: typeof before, first: number, last: number) =>
        packets.filter((_, place) => place < first || place > last).map(({ hash }) => hash)
      expect(outside(after, made.from, made.to)).toEqual(outside(before, from, to))
      expect(to - from).toBeLessThan(before.length / 2)
      expect(await areKeyFrames(done.part)).toBe(true)
      const { checks } = await done.verify()
      expect(checks).toContain('packets outside the changed parts')
    },
  )

  it('encodes Vorbis whole if only each block states its length', async () => {
    const [plain, path] = [folder.file('plain.mka'), folder.file('shared.mka')]
    await ffmpeg('-f', 'lavfi', '-i', attacks, '-c:a', 'libvorbis', '-q:a', '5', plain)
    await laceMatroska(plain, path, 'xiph', 'shared')
    const { plan, splice, verify } = await splicedFile(path, [[2.5, 3.2]])
    expect(splice).toBeNull()
    expect(plan.notes.join()).toContain('state only their common length')
    await verify()
  })

  // ffmpeg states the times of such packets too early, by more than it takes for a gap or an overlap elsewhere.
  it.each<readonly [string, string, number | 'shared' | null, readonly string[]]>([
    ['Vorbis with short blocks', attacks, null, ['-c:a', 'libvorbis', '-q:a', '5']],
    ['Vorbis in blocks with a length', attacks, 'shared', ['-c:a', 'libvorbis', '-q:a', '5']],
    ['ALAC', attacks, null, ['-c:a', 'alac', '-sample_fmt', 's16p']],
    ['AAC at 48 kHz', `aevalsrc=${wave(200)}:s=48000:d=${SEC}`, 1024 / 48_000, ['-c:a', 'aac']],
  ])('gives the samples of %s as they follow each other', async (codec, sound, packetSec, options) => {
    const [plain, path] = [folder.file('plain.mka'), folder.file(`sound-${codec}.mka`)]
    await ffmpeg('-f', 'lavfi', '-i', sound, ...options, plain)
    await laceMatroska(plain, path, 'xiph', packetSec)
    const ours = await collectPcm(decodePcm(await probe(path), { audioIndex: 0, sample: 'f32' }))
    const theirs = await ffmpegOutput('-i', path, '-f', 'f32le', '-c:a', 'pcm_f32le', '-')
    // ffmpeg begins with the first sample that it decodes, which may play a moment after the file's zero.
    const late = ours.length - theirs.length
    expect(Math.abs(late)).toBeLessThan(1000)
    expect(late < 0 ? ours.equals(theirs.subarray(-late)) : ours.subarray(late).equals(theirs)).toBe(true)
  })
})
