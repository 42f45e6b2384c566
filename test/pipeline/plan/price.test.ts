import { readFile, writeFile } from 'node:fs/promises'
import { beforeAll, expect, it } from 'vitest'
import { cutVoice, probe } from '../../../src/media/index.js'
import { cutRequests, planMedia } from '../../../src/pipeline/plan/plan-job.js'
import { withPrice } from '../../../src/pipeline/plan/price.js'
import type { Segment } from '../../../src/pipeline/plan/segments.js'
import { judgeInput } from '../../../src/service/work/judge-input.js'
import { fixture } from '../../helpers/job-bench.js'
import { ffmpeg, tone } from '../../helpers/media-factory.js'
import { folderOfTests } from '../../helpers/system/folder-of-tests.js'
import { requestFor } from '../../helpers/test-pipeline.js'

/** A last packet may be counted that a decoder cuts off, and some milliseconds of rounding. */
const MOST_OVER_SEC = 0.05

/** The sound of films whose picture goes on. */
const TITLE_SEC = 2.3

const WHOLE: readonly Segment[] = []
const INSIDE = [{ startSec: 0.5, endSec: 1.2 }]
const BEHIND = [{ startSec: 0.5, endSec: 9 }]
const TWO = [
  { startSec: 0.2, endSec: 0.3 },
  { startSec: 2.5, endSec: null },
]

const folder = folderOfTests()
beforeAll(async () => {
  await ffmpeg(
    ...['-i', fixture('speech.wav')],
    ...['-ar', '44100', folder.file('made-cd.wav')],
    ...['-c:a', 'aac', folder.file('made-bare.aac')],
    ...['-c:a', 'libmp3lame', '-q:a', '5', '-write_xing', '0', folder.file('made-vbr.mp3')],
    ...['-c:a', 'aac', '-af', 'apad=whole_dur=14', folder.file('made-broadcast.ts')],
    ...['-c:a', 'wmav2', folder.file('made-old.wma')],
    ...['-c:a', 'eac3', '-ar', '48000', folder.file('made-guessed.avi')],
    ...['-af', 'apad=whole_dur=14', '-c:a', 'ac3', '-f', 'vob', folder.file('made-disc.mpg')],
    ...['-af', 'apad=whole_dur=14.337', '-c:a', 'wavpack', folder.file('made-blocks.mkv')],
    ...['-c:a', 'wavpack', '-t', '0.4', folder.file('made-block.mkv')],
    ...['-c:a', 'libvorbis', '-t', '0.3', folder.file('made-page.ogg')],
    ...['-ar', '48000', '-ac', '2', '-c:a', 's302m', '-strict', '-2', folder.file('made-studio.ts')],
  )
  await ffmpeg(
    ...['-i', fixture('speech.wav'), '-f', 'lavfi', '-i', 'color=s=64x64:r=25:d=20'],
    ...['-map', '1:v', '-map', '0:a', '-af', `atrim=0:${TITLE_SEC}`, '-c:a', 'aac', folder.file('made-title.mp4')],
    ...[
      '-map',
      '1:v',
      '-map',
      '0:a',
      '-af',
      `atrim=0:${TITLE_SEC}`,
      '-c:a',
      'pcm_s16le',
      folder.file('made-title.mov'),
    ],
    ...['-map', '1:v', '-map', '0:a', '-af', `atrim=0:${TITLE_SEC}`, '-c:a', 'flac', folder.file('made-title.mkv')],
  )
  await ffmpeg(
    ...['-i', fixture('speech.wav'), '-f', 'lavfi', '-i', 'color=s=720x576:r=25:d=14.337'],
    ...['-map', '1:v', '-map', '0:a', '-af', 'apad=whole_dur=14.337', '-c:v', 'mpeg2video'],
    ...['-ar', '48000', '-ac', '1', '-c:a', 'pcm_s16le', folder.file('made-server.gxf')],
  )
})

/** Seconds of a packet that states no length. */
const LONG_PACKET_SEC = 1

it.each<[string, readonly Segment[], number?]>([
  ['speech.m4a', WHOLE],
  ['speech.mp3', WHOLE],
  ['late-audio.mp4', WHOLE],
  ['phone.mp4', INSIDE],
  ['nonzero-start.m2ts', TWO],
  ['made-cd.wav', WHOLE],
  ['made-bare.aac', WHOLE],
  ['made-vbr.mp3', WHOLE],
  ['made-broadcast.ts', WHOLE],
  ['made-old.wma', WHOLE],
  ['made-guessed.avi', WHOLE],
  ['made-disc.mpg', WHOLE],
  ['made-blocks.mkv', WHOLE, LONG_PACKET_SEC],
  ['made-block.mkv', WHOLE],
  ['made-page.ogg', WHOLE],
  ['made-studio.ts', WHOLE, 0.1],
  ['made-title.mp4', WHOLE],
  ['made-title.mov', WHOLE],
  ['made-title.mp4', BEHIND],
  ['made-title.mov', BEHIND],
  ['made-title.mkv', BEHIND],
  ['made-server.gxf', WHOLE],
])(
  'the plan of %s costs what the service charges, or a packet more: %j',
  async (path, segments, overSec = MOST_OVER_SEC) => {
    const media = await probe(path.startsWith('made-') ? folder.file(path) : fixture(path))
    const request = requestFor(media.path, { output: `${folder.path}/`, segments, recipe: { track: 0 } })
    const plan = await withPrice(await planMedia(media, request, {}), undefined)
    const voices = await cutVoice(media, cutRequests(plan, folder.path))
    const chargedMs = await Promise.all(voices.map(({ path: voice }) => charge(voice)))
    const chargedSec = chargedMs.reduce((sum, ms) => sum + ms, 0) / 1000
    expect(plan.paidSec).toBeGreaterThanOrEqual(chargedSec)
    expect(plan.paidSec).toBeLessThan(chargedSec + overSec)
    if (segments === BEHIND) expect(chargedSec).toBeLessThan(TITLE_SEC + MOST_OVER_SEC)
  },
)

it('asks for no space, and announces no parts, for a length that only the header states', async () => {
  const path = folder.file('endless.mkv')
  await ffmpeg(...tone(1), '-c:a', 'flac', path)
  const bytes = await readFile(path)
  // 99 days, as a subtitle without an end leaves it.
  bytes.writeDoubleBE(8_589_934_595, bytes.indexOf(Buffer.from([0x44, 0x89, 0x88])) + 3)
  await writeFile(path, bytes)
  const media = await probe(path)
  expect(media.durationSec).toBeGreaterThan(8_000_000)
  const plan = await planMedia(media, requestFor(path), {})
  expect(plan.workBytes).toBeLessThan(100_000_000)
  expect(plan.notes).toEqual([])
})

/** Milliseconds that the service charges for a voice. */
async function charge(voice: string): Promise<number> {
  const { signal } = new AbortController()
  const file = { startSec: null, endSec: null, outputType: 'flac' } as const
  return (await judgeInput(voice, file, { limits: {}, creditsSec: null, signal })).soundMs
}
