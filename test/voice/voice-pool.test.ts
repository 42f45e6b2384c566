import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Worker } from 'node:worker_threads'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { type Block, SAMPLE_RATE } from '../../src/voice/block-plan.js'
import { correct, VoicePool } from '../../src/voice/index.js'
import { floatsOf, inBuffers } from '../helpers/sound/float-buffers.js'
import { noisySpeech } from '../helpers/sound/made-speech.js'

const { noisy } = noisySpeech(SAMPLE_RATE, { noiseGain: 0.1, seed: 5 })
const block = (): Block => ({ channels: [Float32Array.from(noisy)], innerStart: 0, innerEnd: noisy.length })
const LONG = 600

function longBlock(): Block {
  const samples = new Float32Array(LONG * SAMPLE_RATE)
  return { channels: [samples], innerStart: 0, innerEnd: samples.length }
}

afterEach(() => vi.restoreAllMocks())

/** The threads a test starts, so that it can end one from outside as the system would. */
function spyOnThreads(): Worker[] {
  const threads: Worker[] = []
  const post = Worker.prototype.postMessage
  vi.spyOn(Worker.prototype, 'postMessage').mockImplementation(function (this: Worker, ...args) {
    if (!threads.includes(this)) threads.push(this)
    return Reflect.apply(post, this, args)
  })
  return threads
}

describe('a pool of voice workers', () => {
  test('gives a typed error (-1) when a worker dies, and works on with another', async () => {
    const threads = spyOnThreads()
    await using pool = new VoicePool({ workers: 1 })
    const lost = pool.correct(longBlock(), {})
    await vi.waitFor(() => expect(threads).toHaveLength(1))
    void threads[0]?.terminate()
    await expect(lost).rejects.toMatchObject({ code: 'ERR_VOICE_CRASHED', errorCode: -1, exitCode: 1 })
    expect((await pool.correct(block(), {})).channels[0]).toHaveLength(noisy.length)
    expect(threads).toHaveLength(2)
  })

  test('ends a block that takes too long with -12, and works on', async () => {
    await using pool = new VoicePool({ workers: 1, blockTimeoutMs: 1 })
    await expect(pool.correct(longBlock(), {})).rejects.toMatchObject({ code: 'ERR_VOICE_TIMEOUT', errorCode: -12 })
    await expect(pool.correct(block(), {})).rejects.toMatchObject({ errorCode: -12 })
  })

  test('stops at once when it is interrupted, in work or waiting', async () => {
    await using pool = new VoicePool({ workers: 1 })
    const controller = new AbortController()
    const running = pool.correct(longBlock(), { signal: controller.signal })
    const waiting = pool.correct(block(), { signal: controller.signal })
    controller.abort()
    const ended = [running, waiting].map((block) => expect(block).rejects.toMatchObject({ exitCode: 130 }))
    await Promise.all(ended)
    expect((await pool.correct(block(), {})).channels[0]).toHaveLength(noisy.length)
  })

  test('refuses after it was closed, and fails what was in work', async () => {
    const pool = new VoicePool({ workers: 1 })
    const running = pool.correct(longBlock(), {})
    const waiting = pool.correct(block(), {})
    const ends = Promise.allSettled([running, waiting])
    await pool.close()
    expect((await ends).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    await expect(pool.correct(block(), {})).rejects.toMatchObject({ exitCode: 130 })
  })

  test('lets a reader leave early', async () => {
    await using pool = new VoicePool({ workers: 2 })
    for await (const _ of correct({ channelCount: 1, buffers: inBuffers(noisy, 4096) }, { pool })) break
    expect(await floatsOf(correct({ channelCount: 1, buffers: inBuffers(noisy, 4096) }, { pool }))).toHaveLength(
      noisy.length,
    )
  })

  test('never keeps a process alive that has nothing else to do', async () => {
    const index = fileURLToPath(new URL('../../src/voice/index.ts', import.meta.url))
    const script = `import { VoicePool } from ${JSON.stringify(index)}
const pool = new VoicePool({ workers: 1 })
await pool.correct({ channels: [new Float32Array(4800)], innerStart: 0, innerEnd: 4800 }, {})
process.stdout.write('done')`
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--import', 'tsx', '--input-type=module', '-e', script],
      { timeout: 50_000 },
    )
    expect(stdout).toBe('done')
  })
})
