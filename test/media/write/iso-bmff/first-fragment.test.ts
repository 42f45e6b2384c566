import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { ffmpeg, ffprobeJson, picture, tone } from '../../../helpers/media-factory.js'
import { folderOfTests } from '../../../helpers/system/folder-of-tests.js'
import { bytesWriting, syncOffsets, writtenFile } from '../../../helpers/written-file.js'
import { leaves } from './box-tree.js'

const folder = folderOfTests()

/** Boxes that state something of the new packets or where bytes lie. */
const MAY_CHANGE =
  /^moov\/trak#1.*\/(stsd|stts|stsz|stsc|stco|sgpd|sbgp)$|^moof.*\/(tfhd|tfdt|trun)|\/(mdat|stco)(#\d+)?$|^(mdat|mfra)/

it.each([
  ['AAC', 'aac.mp4', ['-c:a', 'aac']],
  ['Opus', 'opus.mp4', ['-c:a', 'libopus']],
  ['FLAC', 'flac.mp4', ['-c:a', 'flac', '-strict', '-2']],
  ['MP3', 'mp3.mp4', ['-c:a', 'libmp3lame']],
  ['AC-3', 'ac3.mp4', ['-c:a', 'ac3']],
  ['PCM', 'pcm.mov', ['-c:a', 'pcm_s16le']],
])('replaces %s whose first packets the index lists, and fragments the others', async (_name, name, options) => {
  const path = folder.file(name)
  const sound = ['-f', 'lavfi', '-i', 'anoisesrc=d=4:a=0.3:seed=7:r=48000,lowpass=3000']
  await ffmpeg(
    ...picture(4, '64x48', 5),
    ...sound,
    '-c:v',
    'mpeg4',
    '-g',
    '5',
    ...options,
    '-movflags',
    'frag_keyframe',
    path,
  )
  const { plan, part, verified } = await writtenFile(path)
  const { writer, census } = bytesWriting(plan)
  expect(writer).toBe(name === 'pcm.mov' ? 'pcm-in-place' : 'iso-bmff')
  expect(census.filter(({ fate }) => fate === 'lost')).toEqual([])
  for (const offsetSamples of syncOffsets(verified)) expect(Math.abs(offsetSamples ?? 99)).toBeLessThan(2)
  const [before, after] = [leaves(await readFile(path)), leaves(await readFile(part))]
  expect([...after.keys()]).toEqual([...before.keys()])
  for (const [box, bytes] of before) if (!MAY_CHANGE.test(box)) expect(after.get(box), box).toEqual(bytes)
  // Each sample of the index and of the fragments is read again, at its time.
  const times = async (file: string) => {
    const { packets } = (await ffprobeJson(file, '-select_streams', 'a', '-show_entries', 'packet=dts_time,size')) as {
      packets: { dts_time: string; size: string }[]
    }
    return packets.map(({ dts_time }) => Number(dts_time))
  }
  const made = await times(part)
  expect(made[0]).toBe((await times(path))[0])
  expect(made.every((sec, place) => place === 0 || sec > (made[place - 1] as number))).toBe(true)
})

it('leaves an index and fragments to ffmpeg if there is an edit list, which plays the index alone', async () => {
  const path = folder.file('edited.mp4')
  const flags = ['-g', '5', '-use_editlist', '1', '-movflags', 'frag_keyframe']
  await ffmpeg(...picture(3, '64x48', 5), ...tone(3), '-c:v', 'mpeg4', '-c:a', 'aac', ...flags, path)
  const { plan } = await writtenFile(path)
  expect(plan.writing.kind).toBe('remux')
})
