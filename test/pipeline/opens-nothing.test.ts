import { readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { alignVoice } from '../../src/media/align/align-voice.js'
import { cutVoice } from '../../src/media/cut/cut.js'
import { decodePcm } from '../../src/media/pcm/decode-pcm.js'
import { measureLoudness } from '../../src/media/pcm/loudness.js'
import { probe } from '../../src/media/probe/probe.js'
import { verifyMux } from '../../src/media/verify/verify-mux.js'
import { mux } from '../../src/media/write/remux/mux.js'
import { planMux } from '../../src/media/write/remux/mux-plan.js'
import { checkFile } from '../../src/pipeline/job/check-file.js'
import { runJob } from '../../src/pipeline/job/run-job.js'
import { compareTracks } from '../../src/pipeline/report/comparison.js'
import { processFile } from '../../src/service/engine/process-file.js'
import { VoicePool } from '../../src/voice/index.js'
import { jobBench } from '../helpers/job-bench.js'
import { ffmpeg, tone } from '../helpers/media-factory.js'
import { requestFor } from '../helpers/test-pipeline.js'
import { box, replaceBoxes } from '../media/movie-boxes.js'

const bench = jobBench()

it('no path that opens a file follows what is written in it: to an address, or to a neighbour', async () => {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { folder } = bench
  const plain = folder.file('plain.mov')
  await ffmpeg('-f', 'lavfi', '-i', 'testsrc=s=64x48:r=25:d=1', ...tone(1), '-c:v', 'mjpeg', '-c:a', 'pcm_s16le', plain)
  const media = await probe(plain)
  const plan = planMux(media, { replaced: [0] })
  const voice = () => new Map([[0, decodePcm(media, { audioIndex: 0 })]])
  const made = await mux(plan, voice(), folder.file('made.mov'))
  const range = { startSample: 0, endSample: null }
  const request = { audioIndex: 0, channels: { kind: 'all' as const }, range }
  const [cut] = await cutVoice(media, [{ ...request, targetWithoutExtension: folder.file('cut') }])
  if (!cut) throw new Error('no cut')

  const reference = (entry: Buffer) => Buffer.concat([Buffer.from([0, 0, 0, 0, 0, 0, 0, 1]), entry])
  const url = box('url ', Buffer.concat([Buffer.alloc(4), Buffer.from(`${origin}/voice.mov\0`)]))
  const crafted: Readonly<Record<string, Buffer | string>> = {
    'list.mov': `#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1.0,\n${origin}/a.ts\n#EXT-X-ENDLIST\n`,
    'list.wav': `ffconcat version 1.0\nfile '${origin}/b.wav'\nfile '${plain}'\n`,
    'list.flac': `<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011" profiles="urn:mpeg:dash:profile:isoff-on-demand:2011"><Period><AdaptationSet mimeType="audio/mp4"><Representation id="1"><BaseURL>${origin}/d.mp4</BaseURL></Representation></AdaptationSet></Period></MPD>`,
    'reference.mov': replaceBoxes(await readFile(plain), 'dref', () => box('dref', reference(url))),
  }
  await using pool = new VoicePool()
  for (const [name, bytes] of Object.entries(crafted)) {
    const path = folder.file(name)
    await writeFile(path, bytes)
    // As if it had been probed when it was another: every later step opens it for itself.
    const swapped = { ...media, path }
    const swappedPlan = { ...plan, media: swapped }
    const signal = new AbortController().signal
    const kept = { index: 0, outputIndex: 0, kind: 'audio', codec: null, fate: 'replaced', packetHash: null } as const
    const steps: Readonly<Record<string, () => Promise<unknown>>> = {
      probe: () => probe(path),
      check: () => checkFile(path, requestFor(path).settings, { limits: {}, isEmbedded: false }, signal),
      run: () => runJob(requestFor(path), bench.pipeline.context),
      cut: () => cutVoice(swapped, [{ ...request, targetWithoutExtension: folder.file('other') }]),
      loudness: () => measureLoudness(decodePcm(swapped, { audioIndex: 0 })),
      mux: () => mux(swappedPlan, voice(), folder.file('other.mov')),
      verify: () => verifyMux(plan, made, path, { level: 'full' }),
      align: () => alignVoice(cut, path),
      report: () =>
        compareTracks(
          { streams: [{ ...kept, reason: null }], segments: [], voices: [] },
          { before: { path }, after: { path }, durationSec: 1, workFolder: folder.path, signal },
        ),
      service: () => processFile({ input: path, output: folder.file('answer.flac'), outputType: 'flac', pool }),
    }
    for (const [step, run] of Object.entries(steps)) {
      await run().catch((error: unknown) => expect(error, `${step} of ${name}`).toHaveProperty('code'))
      expect(asked, `${step} of ${name}`).toEqual([])
    }
  }
  await new Promise((resolve) => server.close(resolve))
  expect(asked).toEqual([])
})
