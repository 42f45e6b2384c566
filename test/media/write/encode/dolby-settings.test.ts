import { expect, it } from 'vitest'
import { ffmpeg, ffmpegOutput, tone } from '../../../helpers/media-factory.js'
import { folderOfTests } from '../../../helpers/system/folder-of-tests.js'
import { writtenFile } from '../../../helpers/written-file.js'

const folder = folderOfTests()

/** Numbers of some bits of the first frame, one after another. */
async function settingsOf(path: string, track: number, widths: readonly number[]): Promise<readonly number[]> {
  const frame = await ffmpegOutput(
    '-i',
    path,
    '-map',
    `0:a:${track}`,
    '-c',
    'copy',
    '-frames:a',
    '1',
    '-f',
    'data',
    '-',
  )
  const bits = [...frame.subarray(0, 16)].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  let at = 0
  return widths.map((width) => {
    at += width
    return Number.parseInt(bits.slice(at - width, at), 2)
  })
}

/** Up to the mode: sync, checksum, rate, size, version, service. */
const HEAD = [16, 16, 2, 6, 5, 3, 3]
const STEREO = ['-dialnorm', '-24', '-dsur_mode', '2', '-audio_service_type', 'vi']
const SURROUND = ['-dialnorm', '-20', '-center_mixlev', '0.500', '-surround_mixlev', '0.000']

it.each([
  ['stereo.ac3', 2, STEREO, [...HEAD, 2, 1, 5]],
  ['surround.ac3', 6, SURROUND, [...HEAD, 2, 2, 1, 5]],
  ['surround.ts', 6, SURROUND, [...HEAD, 2, 2, 1, 5]],
  ['surround.mkv', 6, SURROUND, [...HEAD, 2, 2, 1, 5]],
  ['surround.avi', 6, SURROUND, [...HEAD, 2, 2, 1, 5]],
  ['plus.eac3', 2, ['-dialnorm', '-17'], [16, 2, 3, 11, 2, 2, 3, 1, 5, 5]],
  ['plus.mp4', 2, ['-dialnorm', '-17'], [16, 2, 3, 11, 2, 2, 3, 1, 5, 5]],
] as const)('states the loudness of dialogue and the mix of %s again', async (name, channels, options, widths) => {
  const path = folder.file(name)
  const codec = name.startsWith('plus') ? 'eac3' : 'ac3'
  await ffmpeg(...tone(2, 48_000, channels), '-c:a', codec, '-b:a', '192k', ...options, path)
  const { part } = await writtenFile(path)
  const states = async (file: string) => (await settingsOf(file, 0, widths)).filter((_, place) => widths[place] !== 16)
  expect(await states(part)).toEqual(await states(path))
})

it('states them in a file that ffmpeg writes, for each track', async () => {
  const path = folder.file('two.mkv')
  const tracks = [
    '-map',
    '0',
    '-map',
    '0',
    '-c:a',
    'ac3',
    '-b:a',
    '192k',
    '-dialnorm:a:0',
    '-24',
    '-dialnorm:a:1',
    '-19',
  ]
  await ffmpeg(...tone(2, 48_000, 2), ...tracks, path)
  const { part, plan } = await writtenFile(path, { replaced: [0, 1], container: 'ts' })
  expect(plan.writing.kind).toBe('remux')
  const dialogue = async (track: number) => (await settingsOf(part, track, [...HEAD, 2, 1, 5])).at(-1)
  expect([await dialogue(0), await dialogue(1)]).toEqual([24, 19])
})
