import { readFile, writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { audioStreams } from '../../../src/media/media-info.js'
import { probe } from '../../../src/media/probe/probe.js'
import { ffmpeg, tone } from '../../helpers/media-factory.js'
import { folderOfTests } from '../../helpers/system/folder-of-tests.js'
import { bytesWriting, syncOffsets, writtenFile } from '../../helpers/written-file.js'

const folder = folderOfTests()

it('measures an AIFF-C that counts the samples of packed sound, not its packets', async () => {
  const path = folder.file('counted.aifc')
  await ffmpeg(...tone(4, 44_100, 1), '-c:a', 'adpcm_ima_qt', '-f', 'aiff', path)
  const file = await readFile(path)
  const count = file.indexOf('COMM') + 10
  expect(file.readUInt32BE(count)).toBe(Math.ceil((4 * 44_100) / 64))
  expect((await probe(path)).durationSec).toBeCloseTo(4, 2)
  file.writeUInt32BE(4 * 44_100, count)
  await writeFile(path, file)
  const media = await probe(path)
  expect(media.durationSec).toBeCloseTo(4, 2)
  expect(audioStreams(media)[0]?.durationSec).toBeCloseTo(4, 2)
  const { plan, part, verified } = await writtenFile(path)
  expect(bytesWriting(plan).writer).toBe('chunks')
  for (const offsetSamples of syncOffsets(verified)) expect(Math.abs(offsetSamples ?? 99)).toBeLessThan(2)
  const output = await readFile(part)
  // PCM, with the samples of the last packet.
  expect(output.readUInt32BE(output.indexOf('COMM') + 10)).toBe(64 * Math.ceil((4 * 44_100) / 64))
})
