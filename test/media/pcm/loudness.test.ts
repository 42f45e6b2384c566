import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { decodePcm } from '../../../src/media/pcm/decode-pcm.js'
import { applyGain, loudnessGain, measureLoudness, meteredPcm } from '../../../src/media/pcm/loudness.js'
import { LoudnessMeter } from '../../../src/media/pcm/loudness-meter.js'
import { frameBytes } from '../../../src/media/pcm/pcm.js'
import { silentPcm } from '../../../src/media/pcm/pcm-streams.js'
import { probe } from '../../../src/media/probe/probe.js'
import { ebur128, ffmpeg } from '../../helpers/media-factory.js'
import { collectPcm } from '../../helpers/sound/pcm-buffers.js'
import { folderOfTests } from '../../helpers/system/folder-of-tests.js'

const SPEECH = fileURLToPath(new URL('../../../fixtures/speech.wav', import.meta.url))

describe('loudness', () => {
  const folder = folderOfTests()

  const track = async (path: string) => decodePcm(await probe(path), { audioIndex: 0, sample: 'f32' })

  it.each([
    ['stereo.wav', 'aloop=loop=5:size=144000,tremolo=f=0.1:d=0.9,pan=stereo|c0=c0|c1=0.5*c0', 48_000],
    [
      '5.1 at 44.1 kHz.wav',
      'aresample=44100,aloop=loop=3:size=132300,pan=5.1|c0=c0|c1=0.3*c0|c2=c0|c3=c0|c4=0.8*c0|c5=0.5*c0',
      44_100,
    ],
  ])('agrees with ffmpeg on %s', async (name, filter, rate) => {
    const path = folder.file(name)
    await ffmpeg('-i', SPEECH, '-af', filter, '-ar', String(rate), '-c:a', 'pcm_f32le', path)
    const theirs = await ebur128(path)
    const ours = await measureLoudness(await track(path))
    expect(Math.abs((ours.integratedLufs ?? 0) - theirs.integrated)).toBeLessThanOrEqual(0.1)
    expect(Math.abs((ours.truePeakDbtp ?? 0) - theirs.peak)).toBeLessThanOrEqual(0.2)
    expect(Math.abs((ours.rangeLu ?? 0) - theirs.range)).toBeLessThanOrEqual(0.3)
  })

  it('finds peaks between the samples as ffmpeg does', async () => {
    const path = folder.file('near full scale.wav')
    const sine = 'aevalsrc=0.999*sin(2*PI*11990*t):d=1:s=48000,afade=d=0.2,areverse,afade=d=0.2'
    await ffmpeg('-f', 'lavfi', '-i', sine, '-c:a', 'pcm_f32le', path)
    const ours = await measureLoudness(await track(path))
    expect(Math.abs((ours.truePeakDbtp ?? 0) - (await ebur128(path)).peak)).toBeLessThanOrEqual(0.2)
  })

  it('has no figures for silence', async () => {
    const silence = silentPcm({ sampleRate: 48_000, channels: 1, channelLayout: 'mono', sample: 's16' }, 96_000)
    expect(await measureLoudness(silence)).toEqual({ integratedLufs: null, truePeakDbtp: null, rangeLu: null })
  })

  it('measures what flows by without touching it', async () => {
    const source = await track(SPEECH)
    const metered = meteredPcm(source)
    expect(metered.loudness()).toBeNull()
    expect((await collectPcm(metered.stream)).equals(await collectPcm(source))).toBe(true)
    expect(metered.loudness()).toEqual(await measureLoudness(source))
  })

  it('gives the same figures however the samples arrive', async () => {
    const source = await track(SPEECH)
    const [bytes, frame] = [await collectPcm(source), frameBytes(source.format)]
    const measured = (step: number) => {
      const meter = new LoudnessMeter(source.format)
      for (let at = 0; at < bytes.length; at += step * frame) meter.push(bytes.subarray(at, at + step * frame))
      return meter.result()
    }
    for (const step of [1, 997, 4801]) expect(measured(step)).toEqual(measured(bytes.length))
  })

  it('brings a sound to its target by gain alone where the ceiling allows', async () => {
    const source = await track(SPEECH)
    const before = await measureLoudness(source)
    const gain = loudnessGain(before, { integratedLufs: -33, truePeakDbtp: -1 })
    expect(gain.limitDbtp).toBeNull()
    const after = await measureLoudness(applyGain(source, gain))
    expect(after.integratedLufs).toBeCloseTo(-33, 2)
    expect((after.truePeakDbtp ?? 0) - (before.truePeakDbtp ?? 0)).toBeCloseTo(gain.gainDb, 3)
  })

  it('holds the ceiling where the gain would pass it, and keeps length and place', async () => {
    const source = await track(SPEECH)
    const before = await measureLoudness(source)
    const gain = loudnessGain(before, {
      integratedLufs: (before.integratedLufs ?? 0) + 12,
      truePeakDbtp: (before.truePeakDbtp ?? 0) + 6,
    })
    expect(gain.limitDbtp).not.toBeNull()
    const limited = applyGain(source, gain)
    const after = await measureLoudness(limited)
    expect(after.truePeakDbtp).toBeLessThanOrEqual((gain.limitDbtp ?? 0) + 0.05)
    expect(after.integratedLufs).toBeGreaterThan((before.integratedLufs ?? 0) + 9)
    expect((await collectPcm(limited)).length).toBe((await collectPcm(source)).length)
  })
})
