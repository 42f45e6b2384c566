import { readFile, writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { decodePcm } from '../../../src/media/pcm/decode-pcm.js'
import { applyGain } from '../../../src/media/pcm/loudness.js'
import { probe } from '../../../src/media/probe/probe.js'
import { mux } from '../../../src/media/write/remux/mux.js'
import { planMux } from '../../../src/media/write/remux/mux-plan.js'
import { ebur128, ffmpeg, tone } from '../../helpers/media-factory.js'
import { folderOfTests } from '../../helpers/system/folder-of-tests.js'

const folder = folderOfTests()

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

it('a remux states the loudness of the new sound', async () => {
  const path = await broadcastWave('old-sound.wav', 2, -2300)
  const media = await probe(path)
  const plan = planMux(media, { replaced: [0] })
  expect(plan.notes).toContain('The loudness figures of its bext chunk are measured again.')
  const quieter = applyGain(decodePcm(media, { audioIndex: 0 }), { gainDb: -6, limitDbtp: null })
  const part = folder.file('new-sound.wav')
  await mux(plan, new Map([[0, quieter]]), part)
  const bytes = await readFile(part)
  const [integrated = 0, , peak = 0] = [0, 2, 4].map((at) => bytes.readInt16LE(bytes.indexOf('bext') + 420 + at) / 100)
  const heard = await ebur128(part)
  expect(Math.abs(integrated - heard.integrated)).toBeLessThanOrEqual(0.1)
  expect(Math.abs(peak - heard.peak)).toBeLessThanOrEqual(0.1)
})
