import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { ffmpeg, ffprobeJson, picture, testFolder, tone } from '../../../helpers/media-factory.js'
import { bytesWriting, syncOffsets, writtenFile } from '../../../helpers/written-file.js'
import { leaves } from './box-tree.js'

it('keeps all tracks but the hint track of the sound, which describes the old packets', async () => {
  const folder = await testFolder()
  const path = folder.file('hinted.mp4')
  const tracks = ['-map', '1:a', '-map', '0:v', '-c:a', 'aac', '-c:v', 'mpeg4']
  await ffmpeg(...picture(2), ...tone(2, 48_000, 1), ...tracks, '-movflags', 'rtphint', path)
  const { plan, part, verified } = await writtenFile(path)
  const { writer, census } = bytesWriting(plan)
  expect(writer).toBe('iso-bmff')
  expect(plan.losses).toEqual([
    {
      what: 'moov/trak',
      stream: null,
      reason: 'this hint track tells a streaming server how to send the packets of the old sound',
    },
  ])
  // Sound, picture, hints of the sound, hints of the picture.
  expect(plan.streams.map(({ outputIndex }) => outputIndex)).toEqual([0, 1, null, 2])
  const { streams } = (await ffprobeJson(part, '-show_streams')) as { streams: { id: string }[] }
  expect(streams.map(({ id }) => Number(id))).toEqual([1, 2, 4])
  expect(verified.streams.map(({ fate }) => fate)).toEqual(['replaced', 'copied', 'dropped', 'copied'])
  for (const offsetSamples of syncOffsets(verified)) expect(Math.abs(offsetSamples ?? 99)).toBeLessThan(2)

  const [before, after] = [leaves(await readFile(path)), leaves(await readFile(part))]
  const hintsOfPicture = before.get('moov/trak#3/udta/hnti')
  expect(hintsOfPicture).toBeDefined()
  expect(after.get('moov/trak#2/udta/hnti')).toEqual(hintsOfPicture)
  expect(census.filter(({ fate }) => fate === 'lost').map(({ path: box }) => box)).toEqual(['moov/trak'])
  await folder.remove()
})

it('leaves hints in fragments to ffmpeg', async () => {
  const folder = await testFolder()
  const path = folder.file('hinted-fragments.mp4')
  const flags = 'rtphint+frag_keyframe+empty_moov'
  await ffmpeg(...picture(2), ...tone(2, 48_000, 1), '-c:a', 'aac', '-c:v', 'mpeg4', '-movflags', flags, path)
  const { plan } = await writtenFile(path)
  expect(plan.writing.kind).toBe('remux')
  await folder.remove()
})
