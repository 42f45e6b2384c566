import { open, readFile, rm, writeFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { clockJump } from '../../../src/media/probe/clock-jump.js'
import { probe } from '../../../src/media/probe/probe.js'
import { planOutput } from '../../../src/media/write/plan-writing.js'
import { decodedEndSec } from '../../../src/service/engine/decoded-end.js'
import { ffmpeg, type TestFolder, testFolder } from '../../helpers/media-factory.js'
import { folderOfTests } from '../../helpers/system/folder-of-tests.js'
import { soundMoved } from './sound-place.js'
import { film, stereo } from './zoo-parts.js'
import { replaceVoice } from './zoo-run.js'

const ROUND_SEC = 2 ** 33 / 90_000

describe('a transport stream whose clock breaks', () => {
  let folder: TestFolder
  beforeAll(async () => {
    folder = await testFolder()
  })
  afterAll(() => {
    packets = undefined
    return folder.remove()
  })

  it.each(process.env.VOXMUX_SOAK ? ['ts', 'm2ts'] : ['ts'])(
    'is refused where parts were joined with cat (.%s)',
    async (container) => {
      const joined = await join(`back.${container}`, 0, 0)
      await expect(probe(joined)).rejects.toMatchObject({
        code: 'ERR_CLOCK_JUMPS',
        exitCode: 5,
        message: expect.stringContaining('jumps back'),
      })
    },
  )

  it('is refused where it jumps ahead so far that it is no gap', async () => {
    await expect(probe(await join('ahead.ts', 0, 1000))).rejects.toMatchObject({
      code: 'ERR_CLOCK_JUMPS',
      message: expect.stringMatching(/jumps ahead by (9\d\d|1000) s/),
      remedies: [expect.stringContaining('join')],
    })
  })

  it('gets silence for a gap', async () => {
    const joined = await join('gap.ts', 0, 20)
    const { output } = await replaceVoice(joined, folder.file('out-gap.ts'))
    const [start, middle, end] = await soundMoved(joined, output)
    expect(Math.abs(start ?? Number.NaN)).toBeLessThanOrEqual(48)
    expect(middle, 'nothing to hear').toBeNaN()
    expect(Math.abs(end ?? Number.NaN)).toBeLessThanOrEqual(48)
  })

  it('goes on where it starts anew long after the beginning', async () => {
    const path = folder.file('wrap.ts')
    await made(path, ROUND_SEC - 66, 70)
    const { output } = await replaceVoice(path, folder.file('out-wrap.ts'))
    const moved = await soundMoved(path, output)
    expect(
      moved.filter((samples) => !(Math.abs(samples) <= 48)),
      `moved by ${moved}`,
    ).toEqual([])
  })

  it('is not taken for broken where one reading is damaged', async () => {
    const path = folder.file('damaged.ts')
    await made(path, 0, 3)
    const bytes = await readFile(path)
    const packet = packetWithClock(bytes, bytes.length >> 1)
    bytes.writeUInt8((bytes[packet + 6] ?? 0) ^ 0x40, packet + 6)
    await writeFile(path, bytes)
    expect((await probe(path)).durationSec).toBeCloseTo(3, 0)
  })

  it('is found out at some hundred places of a long file', async () => {
    const two = 7200
    if (process.env.VOXMUX_SOAK) expect(await jumpIn('even', (sec) => sec, two)).toBeUndefined()
    expect(await jumpIn('busy', (sec) => sec + 40 * Math.sin(sec / 60), two)).toBeUndefined()
    expect(await jumpIn('around', (sec) => ROUND_SEC - 3000 + sec, two)).toBeUndefined()
    expect(await jumpIn('opening', (sec) => (sec < 10 ? sec : sec - 10), two)).toEqual({ kind: 'back' })
    expect(await jumpIn('ahead', (sec) => (sec < 5000 ? sec : sec + 1000), two)).toMatchObject({ kind: 'ahead' })
  })

  /** Two parts one behind the other, the second so much later. */
  async function join(name: string, ...offsetsSec: readonly number[]): Promise<string> {
    const container = name.split('.')[1]
    const parts = await Promise.all(
      offsetsSec.map(async (offsetSec, place) => {
        const part = folder.file(`${name}.${place}.${container}`)
        await made(part, offsetSec, 3)
        return readFile(part)
      }),
    )
    await writeFile(folder.file(name), Buffer.concat(parts))
    return folder.file(name)
  }

  async function made(path: string, offsetSec: number, durationSec: number): Promise<void> {
    const sources = [...film, ...stereo].map((option) => (option === '1.5' ? String(durationSec) : option))
    const isDisc = path.endsWith('.m2ts') ? ['-mpegts_m2ts_mode', '1'] : []
    await ffmpeg(...sources, '-c:v', 'mpeg2video', '-c:a', 'mp2', ...isDisc, '-output_ts_offset', `${offsetSec}`, path)
  }

  let packets: Buffer | undefined

  /** A film of nothing but its clock, longer than what is read whole, with as many bytes a second everywhere. */
  async function jumpIn(name: string, shownAtSec: (sec: number) => number, durationSec: number) {
    const count = 380_000
    packets ??= Buffer.alloc(188 * count, 0xff)
    for (let place = 0; place < count; place++) {
      const ticks = Math.round(shownAtSec((place * durationSec) / count) * 90_000) % 2 ** 33
      const at = place * 188
      packets.set([0x47, 0x01, 0x00, 0x20, 183, 0x10], at)
      packets.writeUInt32BE(Math.floor(ticks / 2), at + 6)
      packets.writeUInt8((ticks % 2) * 0x80, at + 10)
    }
    const path = folder.file(name)
    await writeFile(path, packets)
    const file = await open(path, 'r')
    try {
      return await clockJump(file, packets.length)
    } finally {
      await file.close()
      // Before the system writes 70 MB to the disk.
      await rm(path)
    }
  }
})

describe('a clock that jumps ahead farther than silence may fill', () => {
  const folder = folderOfTests()

  const FRAGMENTS = ['-movflags', 'frag_keyframe+empty_moov+default_base_moof', '-frag_duration', '200000']
  type Form = readonly [container: string, codec: string, options: readonly string[]]
  const forms: readonly Form[] = [
    ['mkv', 'aac', []],
    ['mp4', 'aac', []],
    ['mp4', 'aac', FRAGMENTS],
  ]
  const further: readonly Form[] = [
    ['webm', 'libvorbis', []],
    ['mov', 'aac', []],
    ['flv', 'aac', []],
    ['wmv', 'wmav2', []],
  ]
  it.each(process.env.VOXMUX_SOAK ? [...forms, ...further] : forms)(
    'is refused before anything is sent, with the code of the service (.%s, %s, %j)',
    async (container, codec, options) => {
      const whole = folder.file(`whole-${options.length}.${container}`)
      await ffmpeg(...stereo.map((option) => (option === '1.5' ? '5' : option)), '-c:a', codec, whole)
      const media = await probe(await gapOf(whole, 400, options))
      const refusal = { code: 'ERR_CLOCK_JUMPS', errorCode: -2, message: expect.stringContaining('ahead by 400 s') }
      await expect(planOutput(media, { replaced: [0] })).rejects.toMatchObject({ ...refusal, exitCode: 5 })
      const { signal } = new AbortController()
      const service = decodedEndSec(media, { audioIndex: 0, mostSec: Number.POSITIVE_INFINITY, signal })
      await expect(service).rejects.toMatchObject(refusal)
      const short = await probe(await gapOf(whole, 20, options))
      expect((await planOutput(short, { replaced: [0] })).streams).toHaveLength(1)
    },
  )

  async function gapOf(path: string, gapSec: number, options: readonly string[]): Promise<string> {
    const made = path.replace('whole', `gap-${gapSec}`)
    const gap = ['-c', 'copy', '-bsf:a', `setts=ts=if(gt(N\\,60)\\,PTS+${gapSec}/TB\\,PTS)`]
    await ffmpeg('-i', path, ...gap, ...options, made)
    return made
  }
})

describe('a film whose pictures have the clock of their encoder', () => {
  const folder = folderOfTests()

  it.each(['wmv', 'mkv'])('is refused with the places of both (.%s)', async (container) => {
    const whole = folder.file(`whole.${container}`)
    await ffmpeg(...film, ...stereo, '-c:v', 'mpeg4', '-c:a', 'ac3', whole)
    const apart = folder.file(`apart.${container}`)
    await ffmpeg('-itsoffset', '100000', '-i', whole, '-i', whole, '-map', '0:v', '-map', '1:a', '-c', 'copy', apart)
    await expect(probe(apart)).rejects.toMatchObject({
      ...{ code: 'ERR_CLOCK_JUMPS', errorCode: -2, exitCode: 5 },
      message: `Picture 0 of ${apart} begins 100000 s after audio track 0.`,
      remedies: [expect.stringContaining('-itsoffset -100000')],
    })
    expect((await probe(whole)).streams).toHaveLength(2)
  })
})

function packetWithClock(bytes: Buffer, from: number): number {
  for (let at = from - (from % 188); at < bytes.length; at += 188) {
    const hasField = ((bytes[at + 3] ?? 0) & 0x20) !== 0 && (bytes[at + 4] ?? 0) >= 7
    if (hasField && ((bytes[at + 5] ?? 0) & 0x10) !== 0) return at
  }
  throw new Error('There is no clock.')
}
