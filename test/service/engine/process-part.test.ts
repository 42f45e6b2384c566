import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { probe } from '../../../src/media/index.js'
import { firstPacketSec } from '../../../src/service/engine/first-packet.js'
import { processFile } from '../../../src/service/engine/process-file.js'
import { VoicePool } from '../../../src/voice/index.js'
import { bestLag, decoded, makeWav } from '../../helpers/sound/engine-fixtures.js'
import { noisySpeech } from '../../helpers/sound/made-speech.js'

const folder = mkdtempSync(join(tmpdir(), 'voxmux-engine-part-'))
const pool = new VoicePool({ workers: 2 })
const at = (name: string) => join(folder, name)
const { noisy } = noisySpeech(6 * 48_000, { noiseGain: 0.1, seed: 8 })
const { signal } = new AbortController()

/** Seconds between two key frames. */
const KEY_SEC = 2
const [START_SEC, END_SEC] = [3.3, 5.1]

afterAll(async () => {
  await pool.close()
  rmSync(folder, { recursive: true, force: true })
})

const H264 = ['-c:v', 'libx264', '-pix_fmt', 'yuv420p', '-keyint_min', '50', '-sc_threshold', '0']
const films = [
  { name: 'film.mkv', args: [...H264, '-c:a', 'flac'] },
  { name: 'film.ts', args: [...H264, '-c:a', 'aac'] },
  { name: 'film.ogv', args: ['-c:v', 'libtheora', '-c:a', 'libvorbis'] },
]
const further = [
  { name: 'film.webm', args: ['-c:v', 'libvpx', '-deadline', 'realtime', '-c:a', 'libopus'] },
  { name: 'film.mpg', args: ['-c:v', 'mpeg2video', '-c:a', 'mp2'] },
  { name: 'film.avi', args: ['-c:v', 'mpeg4', '-c:a', 'pcm_s16le'] },
  { name: 'film.m2ts', args: [...H264, '-c:a', 'ac3'] },
  { name: 'film.flv', args: [...H264, '-c:a', 'aac'] },
  { name: 'film.asf', args: ['-c:v', 'wmv2', '-c:a', 'wmav2'] },
  { name: 'film.mxf', args: ['-c:v', 'mpeg2video', '-c:a', 'pcm_s16le'] },
  { name: 'film.mp4', args: [...H264, '-c:a', 'aac'] },
]

test.each(process.env.VOXMUX_SOAK ? [...films, ...further] : films)(
  'a late part of a film has the sound of that part alone, in sync with its pictures: $name',
  async ({ name, args }) => {
    makeWav(at('sound.wav'), noisy)
    const picture = ['-f', 'lavfi', '-i', 'testsrc=d=6:s=64x64:r=25']
    const coding = ['-g', String(KEY_SEC * 25), ...args]
    execFileSync('ffmpeg', ['-v', 'error', '-y', ...picture, '-i', at('sound.wav'), ...coding, at(name)])
    const film = await probe(at(name))
    const output = at(`part-${name.replace('.', '-')}`)
    const { extension } = await processFile({ input: at(name), output, startSec: START_SEC, endSec: END_SEC, pool })

    const part = await probe(output)
    expect([extension, part.container]).toEqual([film.container, film.container])
    const keySec = ((await firstPacketSec(film, null, signal)) ?? 0) + KEY_SEC
    const pictureSec = (await firstPacketSec(part, null, signal)) ?? 0
    const leadSec = pictureSec + START_SEC - keySec
    const [from, lead] = [START_SEC, leadSec].map((sec) => Math.round(sec * 48_000)) as [number, number]
    const sound = { rate: 48_000, channels: 1 }
    const [before, after] = [decoded(at(name), sound), decoded(output, sound)]
    // A codec that is not lossless sounds before its first sample, and blurs times to a millisecond.
    expect(Math.max(0, ...after.subarray(0, Math.max(0, lead - 1200)).map(Math.abs))).toBeLessThan(0.01)
    const ownLength = Math.round((END_SEC - START_SEC) * 48_000)
    expect(Math.abs(bestLag(before.subarray(from, from + ownLength), after.subarray(lead), 1200))).toBeLessThanOrEqual(
      48,
    )
    expect(Math.abs(after.length - lead - ownLength)).toBeLessThan(3000)
  },
)
