import { readFile, writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { cutVoice } from '../../../src/media/cut/cut.js'
import { probe } from '../../../src/media/probe/probe.js'
import { ffmpeg, tone } from '../../helpers/media-factory.js'
import { folderOfTests } from '../../helpers/system/folder-of-tests.js'

const folder = folderOfTests()

it.each([
  ['f32', Number.POSITIVE_INFINITY, 'is not a number'],
  ['f64', Number.NaN, 'is not a number'],
  ['f32', -1e30, 'is more than 240 dB above full scale'],
  ['f64', 1e13, 'is more than 240 dB above full scale'],
] as const)('refuses a sample that no sound has, with its place (%s, %s)', async (type, value, what) => {
  const path = folder.file(`broken-${type}-${value}.wav`)
  await ffmpeg(...tone(3, 48_000, 2), '-c:a', `pcm_${type}le`, path)
  const file = await readFile(path)
  const data = file.indexOf('data') + 8
  if (type === 'f32') file.writeFloatLE(value, data + 2 * 4 * 60_000 + 4)
  else file.writeDoubleLE(value, data + 2 * 8 * 60_000)
  await writeFile(path, file)
  const media = await probe(path)
  const cut = (name: string, endSample: number | null) => {
    const range = { startSample: 0, endSample }
    const all = { kind: 'all' } as const
    return cutVoice(media, [{ audioIndex: 0, channels: all, range, targetWithoutExtension: folder.file(name) }])
  }
  await expect(cut(`broken-cut-${type}-${value}`, null)).rejects.toMatchObject({
    ...{ code: 'ERR_UNREADABLE', errorCode: -2, exitCode: 5 },
    message: `Audio track 0 of ${path} has a sample at 0:01.250 that ${what}.`,
  })
  // Another part of the file can be sent.
  await cut(`whole-cut-${type}-${value}`, 60_000)
})
