import { readFile, writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { probe } from '../../../src/media/probe/probe.js'
import { mappedVoiceVerdicts, noVoiceVerdicts } from '../../../src/pipeline/voice/no-voice-verdicts.js'
import { ffmpeg, testFolder, tone } from '../../helpers/media-factory.js'
import { soundlessFilm } from '../../helpers/sound/soundless-film.js'

it('blames a file whose sound cannot be decoded', async () => {
  const folder = await testFolder()
  const path = folder.file('no-rate.flac')
  await ffmpeg(...tone(1), '-c:a', 'flac', path)
  const bytes = await readFile(path)
  // The sample rate in STREAMINFO: 20 bits after the sizes of blocks and frames.
  bytes.writeUInt16BE(0, 18)
  bytes.writeUInt8(bytes.readUInt8(20) & 0x0f, 20)
  await writeFile(path, bytes)
  await expect(noVoiceVerdicts({ path, audioIndex: 0, channels: 1 }, {})).rejects.toMatchObject({
    code: 'ERR_UNREADABLE',
    errorCode: -2,
    exitCode: 5,
  })
  await folder.remove()
})

it('blames a file whose sound is missing, although its index is not', async () => {
  const folder = await testFolder()
  const media = await probe(await soundlessFilm(folder.file('no-data.mov')))
  const track = { path: media.path, audioIndex: 0, channels: 1 }
  const expected = { errorCode: -2, message: expect.stringContaining('holds no sound that can be decoded') }
  await expect(noVoiceVerdicts(track, {})).rejects.toMatchObject(expected)
  const map = { voicedSec: 0, voice: [], noise: [], music: [] }
  await expect(mappedVoiceVerdicts(track, map, {})).rejects.toMatchObject(expected)
  await folder.remove()
})
