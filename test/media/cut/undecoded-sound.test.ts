import { readFile, writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { cutVoice } from '../../../src/media/cut/cut.js'
import { probe } from '../../../src/media/probe/probe.js'
import { ffmpeg, picture, tone } from '../../helpers/media-factory.js'
import { folderOfTests } from '../../helpers/system/folder-of-tests.js'

const folder = folderOfTests()

/** Cuts all of the first track. */
async function cutAll(path: string) {
  const range = { startSample: 0, endSample: null }
  const all = { kind: 'all' } as const
  return cutVoice(await probe(path), [{ audioIndex: 0, channels: all, range, targetWithoutExtension: `${path}-cut` }])
}

it.each([
  ['aac.wav', 'aac', 44_100],
  ['speex.wav', 'libspeex', 16_000],
])('refuses %s, in which ffmpeg finds only the first packets', async (name, codec, sampleRate) => {
  const path = folder.file(name)
  await ffmpeg(...tone(5, sampleRate, 1), '-c:a', codec, '-ar', String(sampleRate), path)
  await expect(cutAll(path)).rejects.toMatchObject({ code: 'ERR_UNREADABLE', errorCode: -2, exitCode: 5 })
})

it('takes a short MP3 with a long tag behind its frames', async () => {
  const path = folder.file('tail.mp3')
  await ffmpeg(...tone(3, 44_100, 2), '-c:a', 'libmp3lame', '-b:a', '128k', '-write_xing', '0', path)
  await writeFile(path, Buffer.concat([await readFile(path), Buffer.alloc(300_000)]))
  const [cut] = await cutAll(path)
  expect((cut?.sampleCount ?? 0) / 44_100).toBeCloseTo(3, 0)
})

it('takes a track whose last packet states a long pause', async () => {
  const path = folder.file('pause.m4a')
  const whole = folder.file('whole.m4a')
  await ffmpeg(...tone(3, 48_000, 1), '-c:a', 'aac', whole)
  const pause = "setts=duration='if(gte(N,140),48000*30,DURATION)'"
  await ffmpeg('-i', whole, '-c', 'copy', '-bsf:a', pause, path)
  const [cut] = await cutAll(path)
  expect((cut?.sampleCount ?? 0) / 48_000).toBeCloseTo(3, 0)
})

it('takes the only packet of a track beside a longer picture', async () => {
  const path = folder.file('only.mkv')
  const whole = folder.file('whole.mkv')
  await ffmpeg(...picture(5), ...tone(5, 48_000, 1), '-c:a', 'tta', whole)
  await ffmpeg('-i', whole, '-c', 'copy', '-frames:a', '1', path)
  const [cut] = await cutAll(path)
  expect((cut?.sampleCount ?? 0) / 48_000).toBeCloseTo(1, 0)
})
