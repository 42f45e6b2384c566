import { readdir, readFile, writeFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import { decodePcm } from '../../../../src/media/pcm/decode-pcm.js'
import type { PcmFormat, PcmStream } from '../../../../src/media/pcm/pcm.js'
import { slicePcm } from '../../../../src/media/pcm/pcm-streams.js'
import { probe } from '../../../../src/media/probe/probe.js'
import { verifyMux } from '../../../../src/media/verify/verify-mux.js'
import { adtsFrames } from '../../../../src/media/write/encode/adts-frames.js'
import { encodeInTurns } from '../../../../src/media/write/encode/encode-in-turns.js'
import { TURN_FRAMES } from '../../../../src/media/write/encode/encoder-turns.js'
import { planOutput } from '../../../../src/media/write/plan-writing.js'
import { mux } from '../../../../src/media/write/remux/mux.js'
import { planMux } from '../../../../src/media/write/remux/mux-plan.js'
import { writeOutput } from '../../../../src/media/write/write-output.js'
import { ffmpeg, ffmpegOutput, picture } from '../../../helpers/media-factory.js'
import { pcmFromBuffer } from '../../../helpers/sound/pcm-buffers.js'
import { folderOfTests } from '../../../helpers/system/folder-of-tests.js'
import { until } from '../../../helpers/until.js'

const FRAME = 1024
const FORMAT: PcmFormat = { sampleRate: 48_000, channels: 1, channelLayout: 'mono', sample: 's16' }
const OPTIONS = ['-b:{s}', '64000', '-aac_coder:{s}', 'fast']
const ENCODING = { codec: 'aac', encoder: 'aac', lossless: false, bitRate: 64_000, options: OPTIONS }
/** Six turns and a part of one, ending in the middle of a frame. */
const LONG_SEC = 65.01

describe('encoding in turns', () => {
  const folder = folderOfTests()
  beforeAll(async () => {
    const speech = fileURLToPath(new URL('../../../../fixtures/interview.mp4', import.meta.url))
    const mono = ['-map', '0:a', '-ac', '1', '-c:a', 'pcm_s16le', '-t', String(LONG_SEC)]
    await ffmpeg('-stream_loop', '-1', '-i', speech, ...mono, folder.file('long.wav'))
    const late = ['-itsoffset', '0.5', '-i', folder.file('long.wav')]
    const maps = ['-map', '1', '-map', '0', '-map', '2', '-c:v', 'mpeg4', '-c:a', 'aac']
    await ffmpeg('-i', folder.file('long.wav'), ...picture(LONG_SEC), ...late, ...maps, folder.file('long.mp4'))
  })

  /** The film with its voice twice, once late; or some of its streams. */
  async function copied(name: string, ...streams: readonly string[]): Promise<string> {
    const maps = (streams.length > 0 ? streams : ['0']).flatMap((stream) => ['-map', stream])
    // A transport stream has no header of its own for the picture.
    const header = name.endsWith('.ts') ? ['-bsf:v', 'dump_extra'] : []
    await ffmpeg('-i', folder.file('long.mp4'), ...maps, '-c', 'copy', ...header, folder.file(name))
    return folder.file(name)
  }

  const pcm = () => ffmpegOutput('-i', folder.file('long.wav'), '-f', 's16le', 'pipe:1')

  it('gives as many frames as one encoder, and as good a sound, at the joints too', async () => {
    const original = await pcm()
    const turns = await buffer(encodeInTurns(pcmFromBuffer(FORMAT, original), ENCODING))
    const whole = await ffmpegOutput(
      '-i',
      folder.file('long.wav'),
      '-c:a',
      'aac',
      ...OPTIONS.map((option) => option.replace('{s}', 'a')),
      '-f',
      'adts',
      'pipe:1',
    )
    expect(await countFrames(turns)).toBe(await countFrames(whole))
    const one = await noise(whole, original, folder.file('whole.aac'))
    const two = await noise(turns, original, folder.file('turns.aac'))
    const loss = (from: number, to: number) => decibels(mean(two, from, to) / mean(one, from, to))
    expect(loss(0, one.length)).toBeLessThan(0.5)
    // The noise of two encoders differs by up to 3 dB at any place, and in both directions.
    const atJoints = Array.from({ length: Math.floor((one.length - 3) / TURN_FRAMES) }, (_, turn) => {
      const joint = (turn + 1) * TURN_FRAMES
      return loss(joint - 2, joint + 2)
    })
    expect(Math.max(...atJoints)).toBeLessThan(3)
    expect(atJoints.reduce((sum, value) => sum + value, 0) / atJoints.length).toBeLessThan(1)
  })

  // Matroska counts in ms. The soak writes those that count in samples as well; the next test lays MP4 without a remux.
  it.each<readonly [string, number]>([
    ['mkv', 24],
    ...(process.env.VOXMUX_SOAK
      ? ([
          ['mp4', 0],
          ['mov', 0],
          ['ts', 0],
        ] as const)
      : []),
  ])('lays long voices to the sample in .%s', async (container, tolerance) => {
    const path = await copied(`film.${container}`)
    const media = await probe(path)
    const plan = planMux(media, { replaced: [0, 1] })
    const voices = new Map(
      [0, 1].map(
        (audioIndex) => [audioIndex, known(decodePcm(media, { audioIndex }), media.durationSec ?? 0)] as const,
      ),
    )
    const part = folder.file(`out.${container}`)
    const result = await mux(plan, voices, part)
    expect(result.runs).toHaveLength(5)
    const { sync } = await verifyMux(plan, result, part, { level: 'full' })
    const offsets = sync.flatMap(({ places }) => places.map(({ offsetSamples }) => Math.abs(offsetSamples ?? 99)))
    expect(offsets).toHaveLength(6)
    expect(Math.max(...offsets)).toBeLessThanOrEqual(tolerance)
    expect(await readdir(folder.path)).not.toContain(`out.${container}.voice1`)
  })

  it.each(process.env.VOXMUX_SOAK ? ['mp4', 'mov'] : ['mp4'])(
    'lays long voices to the sample in .%s without a remux',
    async (container) => {
      const path = await copied(`own.${container}`)
      const media = await probe(path)
      const plan = await planOutput(media, { replaced: [0, 1] })
      expect(plan.writing).toMatchObject({ kind: 'bytes', writer: 'iso-bmff' })
      const voices = new Map(
        [0, 1].map(
          (audioIndex) => [audioIndex, known(decodePcm(media, { audioIndex }), media.durationSec ?? 0)] as const,
        ),
      )
      const part = folder.file(`own.out.${container}`)
      const result = await writeOutput(plan, voices, part)
      // For each voice two encoders, and one that puts their frames into a side file.
      expect(result.runs).toHaveLength(6)
      const { sync } = await verifyMux(plan, result, part, { level: 'full' })
      const offsets = sync.flatMap(({ places }) => places.map(({ offsetSamples }) => offsetSamples))
      expect(offsets).toEqual([0, 0, 0, 0, 0, 0])
      const lengths = async (file: string) =>
        (
          await Promise.all(
            ['0:a:0', '0:a:1'].map((map) => ffmpegOutput('-i', file, '-map', map, '-f', 's16le', 'pipe:1')),
          )
        ).map(({ length }) => length)
      expect(await lengths(part)).toEqual(await lengths(path))
    },
  )

  it('says of its last frame how long it is, as one encoder does', async () => {
    const path = await copied('length.mp4', '0:v', '0:a:0')
    const media = await probe(path)
    const plan = planMux(media, { replaced: [0] })
    const original = pcmFromBuffer(FORMAT, await pcm())
    await mux(plan, new Map([[0, original]]), folder.file('length.part.mp4'))
    const samples = async (file: string) =>
      (await ffmpegOutput('-i', file, '-map', '0:a', '-f', 's16le', 'pipe:1')).length
    expect(await samples(folder.file('length.part.mp4'))).toBe(await samples(path))
  })

  it('ends with the fault of the voice, and its encoders with it', async () => {
    const original = pcmFromBuffer(FORMAT, await pcm())
    const broken: PcmStream = {
      ...original,
      async *buffers() {
        let left = 300
        for await (const chunk of original.buffers()) {
          if (left-- === 0) throw new Error('the disk is gone')
          yield chunk
        }
      },
    }
    await expect(buffer(encodeInTurns(broken, ENCODING))).rejects.toThrow('the disk is gone')
    await until(noChildren)
  })

  it('ends with its reader, and with its signal', async () => {
    const original = pcmFromBuffer(FORMAT, await pcm())
    for await (const chunk of encodeInTurns(original, ENCODING)) {
      expect(chunk.length).toBeGreaterThan(0)
      break
    }
    await until(noChildren)
    const controller = new AbortController()
    const coded = buffer(encodeInTurns(original, ENCODING, controller.signal))
    setImmediate(() => controller.abort())
    await expect(coded).rejects.toMatchObject({ exitCode: 130 })
    await until(noChildren)
  })

  it('ends with the fault of an encoder', async () => {
    const original = pcmFromBuffer(FORMAT, await pcm())
    const impossible = { ...ENCODING, options: ['-b:{s}', 'much'] }
    await expect(buffer(encodeInTurns(original, impossible))).rejects.toMatchObject({ code: 'ERR_FFMPEG_FAILED' })
  })
})

/** As it comes out of the pipeline: of a length that is known. */
function known(voice: PcmStream, durationSec: number): PcmStream {
  return slicePcm(voice, 0, Math.round(durationSec * voice.format.sampleRate))
}

async function countFrames(adts: Buffer): Promise<number> {
  let count = 0
  async function* once() {
    yield adts
  }
  for await (const frame of adtsFrames(once())) count += Math.sign(frame.length)
  return count
}

/** Mean square of the difference to the original, frame by frame. */
async function noise(adts: Buffer, original: Buffer, path: string): Promise<number[]> {
  await writeFile(path, adts)
  const decoded = await ffmpegOutput('-i', path, '-f', 's16le', 'pipe:1')
  const count = Math.floor(original.length / 2 / FRAME)
  return Array.from({ length: count }, (_, frame) => {
    let sum = 0
    for (let at = frame * FRAME; at < (frame + 1) * FRAME; at++) {
      // ADTS says nothing of the encoder's priming of one frame.
      sum += (decoded.readInt16LE(2 * (at + FRAME)) - original.readInt16LE(2 * at)) ** 2
    }
    return sum / FRAME
  })
}

function mean(values: readonly number[], from: number, to: number): number {
  return values.slice(from, to).reduce((sum, value) => sum + value, 0) / (to - from)
}

function decibels(ratio: number): number {
  return 10 * Math.log10(ratio)
}

/** Whether none of the processes that this one has started still runs. */
async function noChildren(): Promise<boolean> {
  return (await readFile(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8')).trim() === ''
}
