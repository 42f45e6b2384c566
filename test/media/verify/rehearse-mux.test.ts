import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { rehearseMux } from '../../../src/media/index.js'
import { probe } from '../../../src/media/probe/probe.js'
import { planOutput } from '../../../src/media/write/plan-writing.js'
import { ffmpeg, picture, tone } from '../../helpers/media-factory.js'
import { soundlessFilm } from '../../helpers/sound/soundless-film.js'
import { folderOfTests } from '../../helpers/system/folder-of-tests.js'

const folder = folderOfTests()

async function rehearsed(path: string, container: string): Promise<void> {
  const plan = await planOutput(await probe(path), { replaced: [0], container })
  await rehearseMux(plan, { downmixed: new Set() })
}

/** A picture that begins half a second after the sound, which AVI has no time for. */
async function lateFilm(name: string, sec: number): Promise<string> {
  const path = folder.file(name)
  await ffmpeg('-itsoffset', '0.5', ...picture(sec), ...tone(sec, 48_000, 2), '-c:v', 'mpeg4', '-c:a', 'aac', path)
  return path
}

it.each([2, 25])('refuses a film of %d s that the container cannot hold in sync', async (sec) => {
  await expect(rehearsed(await lateFilm('late.mkv', sec), 'avi')).rejects.toMatchObject({
    ...{ code: 'ERR_CONTAINER_UNFIT', exitCode: 2, remedies: [expect.stringContaining('Nothing was sent')] },
    message: expect.stringMatching(/A trial of .*late\.mkv as \.avi failed/),
  })
})

it('refuses a program stream of tiny pictures, some of which lose their times behind the head', async () => {
  const path = folder.file('tiny.mpg')
  const tiny = ['-f', 'lavfi', '-i', 'testsrc=s=64x64:d=44:r=25', '-itsoffset', '8', ...tone(8)]
  // New frames of such sound do not fit into the places of old ones.
  const sound = ['-c:a', 'mp2', '-ar', '44100', '-b:a', '56k']
  await ffmpeg(...tiny, '-c:v', 'mpeg2video', '-bf', '2', '-q:v', '20', ...sound, path)
  await expect(rehearsed(path, 'mpg')).rejects.toMatchObject({ code: 'ERR_CONTAINER_UNFIT' })
})

it.each([
  ['WMA of 62 ms, of which no sample comes back', 'short.wma', 2734, ['-ar', '44100', '-c:a', 'wmav2']],
  ['Opus of one sample, of which the encoder makes no packet', 'short.mkv', 1, ['-c:a', 'libopus']],
])('refuses %s', async (_, name, count, options) => {
  const path = folder.file(name)
  await ffmpeg(
    ...tone(1),
    '-af',
    `${name.endsWith('wma') ? 'aresample=44100,' : ''}atrim=end_sample=${count}`,
    ...options,
    path,
  )
  await expect(rehearsed(path, name.slice(6))).rejects.toMatchObject({ code: 'ERR_CONTAINER_UNFIT' })
})

it('does not offer the container that it tried', async () => {
  const path = folder.file('b-frames.avi')
  await ffmpeg(...picture(2), ...tone(2, 48_000, 2), '-c:v', 'mpeg4', '-bf', '2', '-c:a', 'mp3', path)
  await expect(rehearsed(path, 'mkv')).rejects.toMatchObject({
    remedies: [expect.stringMatching(/Name the output \.mov,/)],
  })
})

it('accepts what can be written', async () => {
  const path = await lateFilm('late.mkv', 2)
  await expect(rehearsed(path, 'mov')).resolves.toBeUndefined()
  await expect(rehearsed(path, 'wav')).resolves.toBeUndefined()
})

it.each([
  ['film.flv', 'm4a'],
  ['late.mka', 'mp4'],
  ['late.mka', 'mov'],
])('begins the sound of %s in .%s behind the priming of its encoder', async (name, container) => {
  const film = [...picture(2), ...tone(2, 44_100, 2), '-c:v', 'libx264', '-c:a', 'aac']
  const sound = ['-itsoffset', '0.05', ...tone(2, 44_100, 2), '-c:a', 'libmp3lame']
  await ffmpeg(...(name === 'film.flv' ? film : sound), folder.file(name))
  expect((await probe(folder.file(name))).startSec).toBeGreaterThan(0.02)
  await expect(rehearsed(folder.file(name), container)).resolves.toBeUndefined()
})

it.each([
  ['pcm_s24le', 'in.wav', 'aiff', 'pcm_s24be'],
  ['pcm_s24le', 'in.wav', 'au', 'pcm_s24be'],
  ['pcm_f32le', 'in.wav', 'aiff', 'pcm_f32be'],
  ['pcm_s16be', 'in.aiff', 'wav', 'pcm_s16le'],
  ['pcm_s24be', 'in.aiff', 'w64', 'pcm_s24le'],
  ['pcm_u8', 'in.wav', 'caf', 'pcm_s16le'],
])('keeps every bit of %s of %s in .%s', async (codec, name, container, becomes) => {
  const path = folder.file(name)
  await ffmpeg(...tone(1, 48_000, 2), '-c:a', codec, path)
  const plan = await planOutput(await probe(path), { replaced: [0], container })
  expect(plan.streams).toMatchObject([{ fate: 'replaced', encoding: { codec: becomes } }])
  await rehearseMux(plan, { downmixed: new Set() })
})

it('ends the reason of ffmpeg with one full stop', async () => {
  const path = folder.file('cd.wav')
  await ffmpeg(...tone(1, 44_100, 2), path)
  await expect(rehearsed(path, 'mxf')).rejects.toThrow(/into this container\.$/)
})

it('does not take chapters and subtitles behind the head for a fault', async () => {
  const path = folder.file('chapters.mkv')
  const chapter = folder.file('chapters.txt')
  await writeFile(chapter, ';FFMETADATA1\n[CHAPTER]\nTIMEBASE=1/1000\nSTART=0\nEND=24000\ntitle=one\n')
  const sound = [...tone(25, 48_000, 2), '-i', chapter, '-map_chapters', '2', '-map', '0', '-map', '1']
  await ffmpeg(...picture(25), ...sound, '-c:v', 'mpeg4', '-c:a', 'aac', path)
  await expect(rehearsed(path, 'mov')).resolves.toBeUndefined()
})

it('leaves sound without a single sample to the cut', async () => {
  const path = await soundlessFilm(folder.file('soundless.mov'))
  await expect(rehearsed(path, 'mkv')).resolves.toBeUndefined()
})

it('leaves sound that cannot be decoded to the cut, although ffmpeg blames the disk', async () => {
  const path = folder.file('broken.mpc')
  const noise = Buffer.concat(Array.from({ length: 35 }, (_, at) => createHash('sha512').update(`45 ${at}`).digest()))
  const head = Buffer.concat([Buffer.from('MP+\x07'), Buffer.from([103, 0, 0, 0, 0, 0, 0, 0x1f]), Buffer.alloc(12)])
  await writeFile(path, Buffer.concat([head, noise]))
  const tried = ffmpeg('-i', path, '-f', 'null', '-')
  await expect(tried).rejects.toThrow('Input/output error')
  await expect(rehearsed(path, 'mka')).resolves.toBeUndefined()
})
