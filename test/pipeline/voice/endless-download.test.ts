import { statSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pipeline, Readable } from 'node:stream'
import { expect, it, onTestFinished } from 'vitest'
import { runJob } from '../../../src/pipeline/job/run-job.js'
import { mostRegeneratedBytes } from '../../../src/pipeline/voice/voice-requests.js'
import { jobBench } from '../../helpers/job-bench.js'
import { ffmpeg } from '../../helpers/media-factory.js'
import { requestFor } from '../../helpers/test-pipeline.js'

const bench = jobBench()

/** Sends zeros for as long as anyone reads. @returns its address */
async function endlessBody(): Promise<string> {
  const chunk = Buffer.alloc(2 ** 20)
  const zeros = function* () {
    for (;;) yield chunk
  }
  const server = createServer((_, response) => void pipeline(Readable.from(zeros()), response, () => {}))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/file`
}

it('a download without an end ends the job, which the next run finishes at no cost', async () => {
  const { server, pipeline: tested, folder } = bench
  const input = await bench.take('speech.wav')
  const endless = { url: await endlessBody(), expiry: 4_000_000_000 }
  server.fail('getOutputFileUrl', { kind: 'answer', body: endless }, 2)
  const run = () => runJob(requestFor(input), tested.context)
  for (let turn = 0; turn < 2; turn++) {
    expect((await run()).error).toMatchObject({ code: 'ERR_DOWNLOAD_TOO_LARGE', exitCode: 4 })
    expect((await readdir(folder.path)).sort()).toEqual(['speech.wav', 'state'])
  }
  expect((await run()).event).toMatchObject({ status: 'done', error: null })
  expect(server.charges).toBe(1)
})

it('the widest samples of PCM at twice the rate fit, and a thousand times as much does not', async () => {
  const input = await bench.take('speech.wav')
  const wide = bench.folder.file('wide.wav')
  await ffmpeg('-i', input, '-ar', '192000', '-ac', '2', '-c:a', 'pcm_f64le', wide)
  const limit = mostRegeneratedBytes({ sampleCount: 3 * 48_000, sampleRate: 48_000, channels: 1 })
  expect(limit).toBeGreaterThan(statSync(wide).size)
  expect(limit).toBeLessThan(1000 * statSync(input).size)
  const hour = mostRegeneratedBytes({ sampleCount: 3600 * 96_000, sampleRate: 96_000, channels: 6 })
  expect(hour).toBeGreaterThan(3600 * 96_000 * 6 * 8)
})
