import { describe, expect, it } from 'vitest'
import { joinVoiceChunks } from '../../src/media/align/join-voice-chunks.js'
import { cutsAtPauses, loudnessOverTime } from '../../src/media/cut/cuts-at-pauses.js'
import type { PcmFormat, PcmStream } from '../../src/media/pcm/pcm.js'
import { readSamples } from '../../src/media/pcm/pcm-samples.js'
import { collectPcm, pcmFromBuffer } from '../helpers/sound/pcm-buffers.js'

const RATE = 8000
const format: PcmFormat = { sampleRate: RATE, channels: 1, channelLayout: 'mono', sample: 'f64' }
/** A tone with pauses round the seconds 3.5 and 7. */
const signal = Float64Array.from({ length: 10 * RATE }, (_, index) => {
  const sec = index / RATE
  const pause = Math.abs(sec - 3.5) < 0.2 || Math.abs(sec - 7) < 0.2
  return (pause ? 0.001 : 0.4) * Math.sin(index * 0.3) + 0.0005 * Math.sin(index * 1.7)
})
const pcm = (values: Float64Array) =>
  pcmFromBuffer(format, Buffer.from(values.slice().buffer)) as PcmStream & { sampleCount: number }

describe('chunks', () => {
  it('are cut in pauses, none longer than allowed', async () => {
    const over = await loudnessOverTime(pcm(signal))
    const cuts = cutsAtPauses(over, { mostSamples: 4 * RATE, searchSamples: 2 * RATE })
    expect(cuts.length).toBe(2)
    expect(Math.abs((cuts[0] ?? 0) / RATE - 3.5)).toBeLessThan(0.2)
    expect(Math.abs((cuts[1] ?? 0) / RATE - 7)).toBeLessThan(0.2)
    expect(cutsAtPauses(over, { mostSamples: 20 * RATE, searchSamples: RATE })).toEqual([])
  })

  const parts = (gains: readonly number[]) => {
    const bounds = [
      [0, 4 * RATE],
      [3 * RATE, 7.5 * RATE],
      [6.5 * RATE, 10 * RATE],
    ] as const
    return bounds.map(([start, end], index) => ({
      startSample: start,
      voice: pcm(signal.slice(start, end).map((value) => value * (gains[index] ?? 1))),
    }))
  }
  const joins = [3.5 * RATE, 7 * RATE]

  it('join to the very samples they were cut from', async () => {
    const voice = joinVoiceChunks({ chunks: parts([1, 1, 1]), joins, crossfadeSamples: 80, levels: 'keep' })
    expect(voice.sampleCount).toBe(signal.length)
    const samples = readSamples(await collectPcm(voice), 'f64')
    expect(samples.length).toBe(signal.length)
    expect(samples.every((value, index) => Math.abs(value - (signal[index] as number)) < 1e-15)).toBe(true)
  })

  it('join without a step in gain on a service that changes only the level', async () => {
    const voice = joinVoiceChunks({ chunks: parts([1, 0.5, 1.6]), joins, crossfadeSamples: 80, levels: 'match' })
    const samples = readSamples(await collectPcm(voice), 'f64')
    // Against the signal itself the gain is the same everywhere: 0.01 dB is a tenth of what may be heard.
    const stepsDb = samples.map((value, index) =>
      Math.abs(signal[index] as number) > 1e-4 ? 20 * Math.log10(value / (signal[index] as number)) : 0,
    )
    expect(Math.max(...stepsDb.map(Math.abs))).toBeLessThan(0.01)
  })

  it('must overlap at their joins', () => {
    expect(() =>
      joinVoiceChunks({ chunks: parts([1, 1, 1]), joins: [2 * RATE, 7 * RATE], crossfadeSamples: 0, levels: 'keep' }),
    ).toThrow(RangeError)
  })
})
