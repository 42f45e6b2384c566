import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { soundLag } from '../../../src/media/index.js'
import { fixture } from '../../helpers/job-bench.js'
import { ffmpeg, type TestFolder, testFolder } from '../../helpers/media-factory.js'

let folder: TestFolder
const speech = fixture('speech.wav')

beforeAll(async () => {
  folder = await testFolder()
})
afterAll(() => folder.remove())

/** The speech through a filter, and through AAC of a bit rate where one is given. */
async function made(name: string, filter: string, ...encoder: readonly string[]): Promise<string> {
  const [encoded, path] = [folder.file(`${name}.m4a`), folder.file(`${name}.wav`)]
  if (encoder.length === 0) await ffmpeg('-i', speech, '-af', filter, '-c:a', 'pcm_f32le', path)
  else {
    await ffmpeg('-i', speech, '-af', filter, ...encoder, encoded)
    await ffmpeg('-i', encoded, '-c:a', 'pcm_f32le', path)
  }
  return path
}

describe('the lag between two files of sound', () => {
  it('is none where one is the other at a low bit rate', async () => {
    expect(await soundLag(speech, await made('low', 'anull', '-c:a', 'aac', '-b:a', '32k'))).toBe(0)
  })

  it('is told to the sample where one begins later or earlier', async () => {
    expect(await soundLag(speech, await made('later', 'adelay=delays=1088S:all=1'))).toBe(1088)
    expect(await soundLag(speech, await made('earlier', 'atrim=start_sample=300,asetpts=N/SR/TB'))).toBe(-300)
  })

  it.each([
    ['something else over a part', "volume='if(between(t,1,1.9),0,1)':eval=frame"],
    ['another sound', 'areverse'],
    ['silence', 'volume=0'],
    ['another length', 'apad=pad_dur=2'],
    ['another rate', 'aresample=44100'],
    ['more channels', 'aformat=channel_layouts=5.1'],
  ])('is null for %s', async (name, filter) => {
    expect(await soundLag(speech, await made(name.replaceAll(' ', '-'), filter))).toBeNull()
  })
})
