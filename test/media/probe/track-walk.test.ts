import { readFile, writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { probe } from '../../../src/media/probe/probe.js'
import { planOutput } from '../../../src/media/write/plan-writing.js'
import { ffmpeg, type TestFolder, testFolder, tone } from '../../helpers/media-factory.js'

let folder: TestFolder
beforeAll(async () => {
  folder = await testFolder()
})
afterAll(() => folder.remove())

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
