import { expect, it } from 'vitest'
import { ffmpeg, ffmpegOutput } from '../../../helpers/media-factory.js'
import { folderOfTests } from '../../../helpers/system/folder-of-tests.js'
import { writtenFile } from '../../../helpers/written-file.js'

const folder = folderOfTests()

/** Length of the sound of each channel. They take turns, so that the loudest one is known at each time. */
const TURN_SEC = 0.3

/** The loudest channel of each turn. */
async function turnsOf(path: string, channels: number): Promise<readonly number[]> {
  const bytes = await ffmpegOutput('-i', path, '-f', 'f32le', '-')
  const samples = new Float32Array(bytes.buffer, bytes.byteOffset, Math.floor(bytes.length / 4))
  return Array.from({ length: channels }, (_, turn) => {
    const [from, to] = [turn + 0.3, turn + 0.7].map((place) => Math.round(place * TURN_SEC * 48_000) * channels)
    const powers = new Float64Array(channels)
    for (const [at, value] of samples.subarray(from, to).entries())
      powers[at % channels] = (powers[at % channels] ?? 0) + value * value
    return powers.indexOf(Math.max(...powers))
  })
}

it.each([
  ['opus', '5.0', 5, undefined],
  ['flac', '5.0', 5, 'webm'],
  ['opus', '6.1', 7, undefined],
  ['opus', '5.1', 6, undefined],
] as const)('keeps the channels of .%s in %s (%i) in their places', async (extension, layout, channels, container) => {
  const path = folder.file(`turns-${layout}.${extension}`)
  // A low tone, which the bass channel holds too.
  const turns = Array.from({ length: channels }, (_, turn) => {
    const isOn = `between(t\\,${(turn * TURN_SEC).toFixed(1)}\\,${((turn + 1) * TURN_SEC).toFixed(1)})`
    return `0.4*sin(2*PI*90*t)*${isOn}`
  })
  const source = `aevalsrc=${turns.join('|')}:c=${layout}:s=48000:d=${(channels * TURN_SEC).toFixed(1)}`
  await ffmpeg('-f', 'lavfi', '-i', source, path)
  const { part } = await writtenFile(path, container ? { container } : {})
  expect(await turnsOf(part, channels)).toEqual(await turnsOf(path, channels))
})
