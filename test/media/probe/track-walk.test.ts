import { readFile, writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { type AudioStreamInfo, audioStreams } from '../../../src/media/media-info.js'
import { probe } from '../../../src/media/probe/probe.js'
import { walkTrack } from '../../../src/media/probe/track-walk.js'
import { planOutput } from '../../../src/media/write/plan-writing.js'
import { ffmpeg, tone } from '../../helpers/media-factory.js'
import { folderOfTests } from '../../helpers/system/folder-of-tests.js'

const folder = folderOfTests()

it('refuses a track without packets in the plan', async () => {
  const path = folder.file('start-of-a-stream.mp4')
  await ffmpeg(...tone(1), '-c:a', 'aac', '-movflags', 'empty_moov+frag_keyframe', path)
  const bytes = await readFile(path)
  await writeFile(path, bytes.subarray(0, bytes.indexOf('moof') - 4))
  await expect(planOutput(await probe(path), { replaced: [0] })).rejects.toMatchObject({
    ...{ code: 'ERR_UNREADABLE', errorCode: -2, exitCode: 5 },
    message: `Audio track 0 of ${path} holds no sound.`,
  })
})

it.each([
  ['opus', 'libopus'],
  ['ogg', 'libvorbis'],
  ['mpg', 'mp2'],
])('refuses parts of a .%s that were joined with cat', async (extension, codec) => {
  const part = folder.file(`part.${extension}`)
  await ffmpeg(...tone(2), '-c:a', codec, ...(extension === 'mpg' ? ['-f', 'vob'] : []), part)
  const bytes = await readFile(part)
  const path = folder.file(`joined.${extension}`)
  await writeFile(path, Buffer.concat([bytes, bytes]))
  await expect(planOutput(await probe(path), { replaced: [0] })).rejects.toMatchObject({
    ...{ code: 'ERR_CLOCK_JUMPS', errorCode: -2, exitCode: 5 },
    message: `The clock of audio track 0 of ${path} jumps back, so its parts share no common time.`,
  })
  await planOutput(await probe(part), { replaced: [0] })
})

it('reads the end of a Vorbis track whose last packet is stated to last a day', async () => {
  const path = folder.file('one-page.ogg')
  await ffmpeg('-f', 'lavfi', '-i', 'anoisesrc=r=48000:seed=1:d=0.1', '-c:a', 'libvorbis', path)
  const media = await probe(path)
  const [stream] = audioStreams(media)
  const { endSec } = await walkTrack(media, stream as AudioStreamInfo, undefined)
  expect(endSec).toBeGreaterThan(0.095)
  expect(endSec).toBeLessThan(0.105)
})
