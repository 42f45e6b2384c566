import { readFile, writeFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { probe } from '../../../../src/media/probe/probe.js'
import { planOutput } from '../../../../src/media/write/plan-writing.js'
import { ffmpeg, tone } from '../../../helpers/media-factory.js'
import { folderOfTests } from '../../../helpers/system/folder-of-tests.js'

const folder = folderOfTests()

/** Offsets of all frames of a constant length. */
const frames = (bytes: Buffer, length: number) =>
  Array.from({ length: Math.floor(bytes.length / length) }, (_, frame) => frame * length)

const MARKS: Readonly<Record<string, (bytes: Buffer, frame: number) => void>> = {
  mp2: (bytes, frame) => bytes.writeUInt8((bytes.readUInt8(frame + 3) & 0x3f) | 0x80, frame + 3),
  ac3: (bytes, frame) => bytes.writeUInt8(bytes.readUInt8(frame + 6) & 0x1f, frame + 6),
  eac3: (bytes, frame) => bytes.writeUInt8(bytes.readUInt8(frame + 4) & 0xf1, frame + 4),
}

it.each([
  ['mp2', 'mp2', 768, true],
  ['mp2', 'ts', 768, true],
  ['mp2', 'mkv', 768, true],
  ['ac3', 'ac3', 1024, true],
  ['eac3', 'eac3', 1024, true],
  ['mp2', 'mp2', 768, false],
  ['ac3', 'ac3', 1024, false],
  ['eac3', 'eac3', 1024, false],
] as const)('names the lost mark of two sounds of %s in .%s', async (codec, container, length, isDual) => {
  const [sound, path] = [folder.file(`${container}-${isDual}.${codec}`), folder.file(`dual-${isDual}.${container}`)]
  await ffmpeg(...tone(1, 48_000, 2), '-c:a', codec, '-b:a', '256k', sound)
  const bytes = await readFile(sound)
  if (isDual) for (const frame of frames(bytes, length)) MARKS[codec]?.(bytes, frame)
  await writeFile(sound, bytes)
  await ffmpeg('-i', sound, '-c', 'copy', path)
  const { losses } = await planOutput(await probe(path), { replaced: [0] })
  const marks = losses.map(({ what }) => what)
  expect(marks).toEqual(isDual ? ['mark of two sounds (dual mono) of audio stream 0'] : [])
})
