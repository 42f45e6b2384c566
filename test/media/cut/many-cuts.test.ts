import { expect, it, onTestFinished } from 'vitest'
import { cutVoice } from '../../../src/media/cut/cut.js'
import { cutCommand, cutReadings, planCuts } from '../../../src/media/cut/cut-command.js'
import { ffmpegArguments } from '../../../src/media/ffmpeg/ffmpeg.js'
import { probe } from '../../../src/media/probe/probe.js'
import type { CutRequest } from '../../../src/media/voice-cut.js'
import { ffmpeg, testFolder, tone } from '../../helpers/media-factory.js'

it('cuts a thousand parts, with commands that any system can start', async () => {
  const folder = await testFolder()
  onTestFinished(() => folder.remove())
  await ffmpeg(...tone(3, 48_000, 2), '-c:a', 'pcm_s24le', folder.file('source.wav'))
  const media = await probe(folder.file('source.wav'))
  const requests = Array.from({ length: 1500 }, (_, place): CutRequest => {
    const range = { startSample: 90 * place, endSample: 90 * place + 50 }
    return { audioIndex: 0, channels: { kind: 'all' }, range, targetWithoutExtension: folder.file(`part-${place}`) }
  })
  const readings = cutReadings(planCuts(media, requests))
  expect(readings.flat().map(({ request }) => request)).toEqual(requests)
  for (const own of readings) {
    const args = ffmpegArguments(cutCommand(media, own)).map((arg) => arg.replace(folder.path, '/tmp/folder'))
    // Windows takes 32,767 characters, and Linux 131,072 of one argument.
    expect(args.join('" "').length).toBeLessThan(32_000)
    // The many branches get the samples between the first cut and the last, not those of the whole film.
    const [first, last] = [own[0]?.request.range.startSample, own.at(-1)?.request.range.endSample]
    expect(args.join(' ')).toMatch(
      new RegExp(`atrim=start_sample=${first}:end_sample=${last},.*asplit=${own.length}\\[`),
    )
  }
  const made = await cutVoice(media, requests.slice(0, 150))
  expect(made.map(({ range }) => range)).toEqual(requests.slice(0, 150).map(({ range }) => range))
  expect(new Set(made.map(({ voiceHash }) => voiceHash)).size).toBeGreaterThan(100)
})
