import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { constantBytes, FRAME_KINDS, type FrameKind } from '../../../../src/media/write/pes/frame-kinds.js'
import { FrameSplitter } from '../../../../src/media/write/pes/frame-splitter.js'
import { ffmpeg } from '../../../helpers/media-factory.js'
import { folderOfTests } from '../../../helpers/system/folder-of-tests.js'

const folder = folderOfTests()

it.each([
  ['mp2', 'mp2', 48_000, 192_000, true],
  ['mp3', 'libmp3lame', 48_000, 128_000, true],
  ['mp3', 'libmp3lame', 44_100, 128_000, false],
  ['ac3', 'ac3', 48_000, 384_000, true],
  ['eac3', 'eac3', 48_000, 100_500, false],
  ['eac3', 'eac3', 48_000, 102_000, true],
  ['eac3', 'eac3', 44_100, 220_500, false],
])('knows if %s of %s has frames of one size: %i Hz, %i bit/s', async (codec, encoder, rate, bitRate, isConstant) => {
  const kind = FRAME_KINDS[codec] as FrameKind
  const path = folder.file(`frames.${codec}`)
  const sound = ['-f', 'lavfi', '-i', `aevalsrc=0.4*sin(2*PI*t*(200+150*t)):s=${rate}:d=3`]
  const own = codec === 'mp3' ? ['-write_xing', '0', '-id3v2_version', '0'] : []
  await ffmpeg(...sound, '-ac', '2', '-c:a', encoder, '-b:a', String(bitRate), ...own, path)
  const splitter = new FrameSplitter(kind)
  splitter.take(await readFile(path))
  const { form, bytesOfAll } = splitter.finish()
  expect(bytesOfAll !== null).toBe(isConstant)
  expect(constantBytes(codec, bitRate, rate, kind.samplesOf(form)) ?? null).toBe(bytesOfAll)
})
