import { readFile, writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { ffmpeg, ffprobeJson, picture, tone } from '../../helpers/media-factory.js'
import { folderOfTests } from '../../helpers/system/folder-of-tests.js'
import { bytesWriting, writtenFile } from '../../helpers/written-file.js'

const folder = folderOfTests()

it('publishes a recording that was cut behind its last key frame, of which ffmpeg reads no picture size', async () => {
  const whole = folder.file('whole.ts')
  await ffmpeg(...picture(2), ...tone(2), ...['-c:v', 'mpeg2video', '-g', '1000', '-c:a', 'mp2'], whole)
  const path = folder.file('cut.ts')
  const bytes = await readFile(whole)
  const half = Math.floor(bytes.length / 2 / 188) * 188
  await writeFile(path, Buffer.concat([bytes.subarray(0, 3 * 188), bytes.subarray(half)]))
  const { streams } = await ffprobeJson(path, '-show_streams')
  expect(streams).toContainEqual(expect.objectContaining({ codec_name: 'mpeg2video', width: 0 }))
  const { plan, verified } = await writtenFile(path)
  expect(bytesWriting(plan).writer).toBe('transport')
  expect(verified.sync[0]?.places.map(({ offsetSamples }) => offsetSamples)).toEqual([0, 0, 0])
})
