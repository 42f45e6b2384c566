import { readFile, writeFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { ffmpeg, ffprobeJson, picture, tone } from '../../helpers/media-factory.js'
import { folderOfTests } from '../../helpers/system/folder-of-tests.js'
import { bytesWriting, syncOffsets, writtenFile } from '../../helpers/written-file.js'

describe('the clock of frames', () => {
  const folder = folderOfTests()

  it('keeps the sound of an MP3 in place behind bytes that are neither tag nor frame', async () => {
    const [plain, path] = [folder.file('plain.mp3'), folder.file('behind-junk.mp3')]
    await ffmpeg(...tone(2, 44_100, 1), '-c:a', 'libmp3lame', '-id3v2_version', '0', '-write_xing', '0', plain)
    const head = Buffer.concat([Buffer.from('ID3\x03\0\0\0\0\0\x14', 'latin1'), Buffer.alloc(20 + 300)])
    await writeFile(path, Buffer.concat([head, await readFile(plain)]))
    const { plan, part, verified } = await writtenFile(path)
    expect(bytesWriting(plan).writer).toBe('frames')
    expect((await readFile(part)).subarray(0, head.length).equals(head)).toBe(true)
    for (const offsetSamples of syncOffsets(verified)) expect(Math.abs(offsetSamples ?? 99)).toBeLessThan(44)
  })

  it('keeps every sample of a long AC-3 at 44.1 kHz, whose frames are shorter in the clock of ffmpeg', async () => {
    const path = folder.file('long.ac3')
    await ffmpeg('-f', 'lavfi', '-i', 'anoisesrc=d=12:r=44100:seed=1', '-ac', '2', '-b:a', '192k', path)
    const { verified } = await writtenFile(path)
    for (const offsetSamples of syncOffsets(verified)) expect(Math.abs(offsetSamples ?? 99)).toBeLessThan(5)
  })

  it('keeps the sound of a Vorbis file in place that lies in one page', async () => {
    const path = folder.file('one-page.ogg')
    await ffmpeg(...tone(0.5, 44_100, 1), '-c:a', 'libvorbis', path)
    const { media, verified } = await writtenFile(path)
    // The first packet of the shortest blocks, which ffmpeg takes for sound.
    expect(media.startSec * 44_100).toBeCloseTo(128, 0)
    expect(verified.sync[0]?.places.map(({ offsetSamples }) => offsetSamples)).toEqual([0, 0, 0])
  })

  it('keeps the sound of a short Vorbis film in place, all of which fits into one page', async () => {
    const path = folder.file('film.ogg')
    await ffmpeg(
      ...picture(0.4),
      ...tone(0.4, 44_100, 1),
      '-c:v',
      'libtheora',
      '-c:a',
      'libvorbis',
      '-page_duration',
      '20000',
      path,
    )
    const { verified } = await writtenFile(path)
    for (const offsetSamples of syncOffsets(verified)) expect(Math.abs(offsetSamples ?? 99)).toBeLessThan(44)
  })

  it.each([
    [4800, 48_000],
    [28_800, 48_000],
    [8000, 8000],
  ])('keeps the end of a Vorbis file of %i samples at %i Hz that lies in one page', async (count, rate) => {
    const path = folder.file(`short-${count}.ogg`)
    await ffmpeg(...tone(count / rate, rate, 1), '-c:a', 'libvorbis', path)
    const { part, verified } = await writtenFile(path)
    for (const file of [path, part]) {
      const bytes = await readFile(file)
      expect(Number(bytes.readBigInt64LE(bytes.lastIndexOf('OggS') + 6))).toBe(count)
    }
    for (const offsetSamples of syncOffsets(verified)) expect(Math.abs(offsetSamples ?? 0)).toBeLessThan(rate / 1000)
  })

  it('keeps the sound of a short Vorbis file in place whose blocks change their length', async () => {
    const path = folder.file('beeps.ogg')
    const beeps = String.raw`aevalsrc='0.4*sgn(sin(2*PI*900*t))*gt(t\,0.05)*lt(t\,0.11)':d=0.2:s=44100`
    await ffmpeg('-f', 'lavfi', '-i', beeps, '-c:a', 'libvorbis', path)
    const { part } = await writtenFile(path)
    const show = ['-show_entries', 'frame=pts,nb_samples']
    const { frames } = (await ffprobeJson(part, ...show)) as { frames: { pts: number; nb_samples: number }[] }
    expect(frames.length).toBeGreaterThan(2)
    const bytes = await readFile(part)
    const pages = [...bytes.toString('latin1').matchAll(/OggS\0/g)].map(({ index }) => bytes.readBigInt64LE(index + 6))
    // Other readers warn of a page of sound that ends at sample 0.
    expect(pages.filter((granule) => granule === 0n)).toHaveLength(2)
    for (const [place, { pts }] of frames.slice(1).entries())
      expect(pts).toBe((frames[place]?.pts ?? 0) + (frames[place]?.nb_samples ?? 0))
  })
})
