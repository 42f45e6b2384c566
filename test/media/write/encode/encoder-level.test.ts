import { beforeAll, expect, it } from 'vitest'
import { ffmpegArguments } from '../../../../src/media/ffmpeg/ffmpeg.js'
import { fileUrl } from '../../../../src/media/ffmpeg/input-safety.js'
import type { AudioStreamInfo } from '../../../../src/media/media-info.js'
import { donorCommand } from '../../../../src/media/write/encode-donor.js'
import { resultEncoding } from '../../../../src/service/engine/result-encoding.js'
import { ffmpeg, ffmpegOutput } from '../../../helpers/media-factory.js'
import { folderOfTests } from '../../../helpers/system/folder-of-tests.js'

const FORMAT = { sample: 's16', sampleRate: 48_000, channels: 1, channelLayout: 'mono' } as const
const TONE = ['-f', 'lavfi', '-i', 'sine=440:r=48000:d=2,volume=6dB', '-ac', '1']

const folder = folderOfTests()
let source: number
beforeAll(async () => {
  await ffmpeg(...TONE, '-f', 's16le', folder.file('tone.raw'))
  await ffmpeg(...TONE, folder.file('tone.wav'))
  source = await levelOf('tone.wav')
})

/** The level of a file's middle in dB. */
async function levelOf(name: string): Promise<number> {
  const middle = await ffmpegOutput('-i', folder.file(name), '-af', 'atrim=0.5:1.5', '-f', 'f32le', '-')
  const samples = new Float32Array(middle.buffer, middle.byteOffset, middle.length / 4)
  return 10 * Math.log10(samples.reduce((sum, value) => sum + value * value, 0) / samples.length)
}

it.each([64, 160, 192, 224, 256])('gives a track of MP3 at %i kbit/s the level of its voice', async (kilobits) => {
  const encoding = {
    ...{ codec: 'mp3', encoder: 'libmp3lame', lossless: false },
    ...{ bitRate: kilobits * 1000, options: ['-b:{s}', String(kilobits * 1000)] },
  }
  const donor = { muxer: 'mp3', options: [], skipSamples: 0, sampleCount: null }
  const raw = fileUrl(folder.file('tone.raw'))
  await ffmpeg(...ffmpegArguments(donorCommand(raw, FORMAT, { path: folder.file('track.mp3'), encoding, donor })))
  expect(Math.abs((await levelOf('track.mp3')) - source)).toBeLessThan(0.03)
})

it('gives an MP3 of the service the level of its voice', async () => {
  const { options } = resultEncoding('mp3', { codec: 'pcm_s16le', channels: 1, bitRate: null } as AudioStreamInfo)
  await ffmpeg('-i', folder.file('tone.wav'), ...options, folder.file('result.mp3'))
  expect(Math.abs((await levelOf('result.mp3')) - source)).toBeLessThan(0.03)
})
