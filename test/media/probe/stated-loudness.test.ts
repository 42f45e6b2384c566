import { readFile, writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { probe } from '../../../src/media/probe/probe.js'
import { planMux } from '../../../src/media/write/remux/mux-plan.js'
import { ffmpeg, type TestFolder, testFolder, tone } from '../../helpers/media-factory.js'

let folder: TestFolder
beforeAll(async () => {
  folder = await testFolder()
})
afterAll(() => folder.remove())

/** A Broadcast WAV whose bext chunk is of `version` and says -23.00 LUFS, or nothing. */
async function broadcastWave(name: string, version: number, loudness: number): Promise<string> {
  const path = folder.file(name)
  await ffmpeg(...tone(1), '-c:a', 'pcm_s16le', '-write_bext', '1', '-metadata', 'originator=Desk', path)
  const bytes = await readFile(path)
  const content = bytes.indexOf('bext') + 8
  bytes.writeUInt16LE(version, content + 346)
  bytes.writeInt16LE(loudness, content + 412)
  await writeFile(path, bytes)
  return path
}

it('the plan names loudness figures that speak of the old sound, and only those', async () => {
  const notesOf = async (path: string) => planMux(await probe(path), { replaced: [0] }).notes.join('\n')
  expect(await notesOf(await broadcastWave('measured.wav', 2, -2300))).toMatch(/loudness figures of its bext chunk/)
  expect(await notesOf(await broadcastWave('unmeasured.wav', 2, 0x7fff))).not.toMatch(/loudness/)
  expect(await notesOf(await broadcastWave('old.wav', 1, -2300))).not.toMatch(/loudness/)
})
