import { readFile, writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { ffmpeg, testFolder, tone } from '../../../helpers/media-factory.js'
import { bytesWriting, writtenFile } from '../../../helpers/written-file.js'

it('begins fragments as early as before, if their lead-in is longer than that of the new packets', async () => {
  const folder = await testFolder()
  const path = folder.file('dash.mp4')
  await ffmpeg(...tone(2, 48_000, 1), '-c:a', 'aac', '-movflags', 'dash+delay_moov', path)
  const file = await readFile(path)
  // The tick at which the only edit begins: 1024 here, 2048 after other encoders.
  file.writeUInt32BE(2048, file.indexOf('elst') + 16)
  await writeFile(path, file)
  const { media, plan, verified } = await writtenFile(path)
  expect(bytesWriting(plan).writer).toBe('iso-bmff')
  expect(media.startSec * 48_000).toBeCloseTo(-2048, 0)
  expect(verified.output.startSec).toBe(media.startSec)
  for (const { offsetSamples } of verified.sync[0]?.places ?? []) expect(Math.abs(offsetSamples ?? 99)).toBeLessThan(2)
  await folder.remove()
})
