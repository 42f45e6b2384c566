import { describe, expect, test } from 'vitest'
import { type Block, SAMPLE_RATE } from '../../src/voice/block-plan.js'
import { createEmbeddedEngine } from '../../src/voice/embedded-engine.js'
import type { VoiceEngine } from '../../src/voice/engine.js'
import { evidenceSettings } from '../../src/voice/restore/evidence-settings.js'
import { sparing } from '../../src/voice/sparing.js'
import { noisySpeech } from '../helpers/sound/made-speech.js'

/** The default engine, and how many channels it was given in all. */
async function counted(): Promise<{ engine: VoiceEngine; channelCount: () => number }> {
  const engine = await createEmbeddedEngine(evidenceSettings.parse({}))
  let count = 0
  const counting = <T>(work: (block: Block) => Promise<T>) => {
    return (block: Block) => {
      count += block.channels.length
      return work(block)
    }
  }
  const { plan, regenerate, lowerBed, judge, detect } = engine
  const watched = { plan, lowerBed, regenerate: counting(regenerate), judge: counting(judge), detect: counting(detect) }
  return { engine: sparing(watched), channelCount: () => count }
}

describe('an engine that spares itself work', () => {
  const { noisy } = noisySpeech(2 * SAMPLE_RATE, { noiseGain: 0.1, seed: 5 })
  const inner = { innerStart: 4800, innerEnd: noisy.length - 4800 }

  test('regenerates dual mono once, with the samples that mono gets', async () => {
    const { engine, channelCount } = await counted()
    const [mono] = (await engine.regenerate({ channels: [noisy.slice()], ...inner })).channels
    const both = await engine.regenerate({ channels: [noisy.slice(), noisy.slice()], ...inner })
    expect(channelCount()).toBe(2)
    expect(both.channels).toHaveLength(2)
    for (const channel of both.channels)
      expect(Buffer.from(channel.buffer).equals(Buffer.from(mono?.buffer ?? new ArrayBuffer(0)))).toBe(true)
    // Each is handed over to another thread, which a shared buffer cannot be twice.
    expect(both.channels[0]?.buffer).not.toBe(both.channels[1]?.buffer)
  })

  test('regenerates both channels if one sample differs', async () => {
    const { engine, channelCount } = await counted()
    const other = noisy.slice()
    other[1234] = (other[1234] ?? 0) + 0.01
    await engine.regenerate({ channels: [noisy.slice(), other], ...inner })
    expect(channelCount()).toBe(2)
  })

  test('leaves silence alone, and finds no voice in it', async () => {
    const { engine, channelCount } = await counted()
    const silence = new Float32Array(noisy.length)
    const { channels, probability } = await engine.regenerate({ channels: [silence, silence.slice()], ...inner })
    const found = await engine.detect({ channels: [silence], ...inner })
    expect(channelCount()).toBe(0)
    expect(channels.map((channel) => channel.length)).toEqual([noisy.length - 9600, noisy.length - 9600])
    expect(channels.every((channel) => channel.every((value) => value === 0))).toBe(true)
    expect(probability).toEqual(new Float32Array(180))
    expect(found).toEqual(probability)
  })
})
