import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { streamFfmpeg } from '../../ffmpeg/ffmpeg.js'
import { fileUrl } from '../../ffmpeg/input-safety.js'
import { type Loudness, LoudnessMeter } from '../../pcm/loudness-meter.js'
import { frameBytes, type PcmFormat, pcmFormatFor } from '../../pcm/pcm.js'
import { wholeFrames } from '../../pcm/pcm-streams.js'
import type { WantedTrack } from '../writer.js'
import type { InPlaceFile } from './in-place-file.js'

/** The new samples of a track in the form of the file, with the facts that the file states about them. */
export interface PcmDonor {
  readonly md5: Buffer | null
  readonly loudness: Loudness | null
}

/** Measures in a side file the facts that the input states about its samples; reads nothing if there are none. */
export async function readPcmDonor(
  path: string,
  track: WantedTrack,
  signal: AbortSignal | undefined,
  { stale }: InPlaceFile,
): Promise<PcmDonor> {
  const needs = (kind: string) => stale.some((each) => each.kind === kind)
  return {
    md5: needs('md5') ? await md5Of(path) : null,
    loudness: needs('loudness') ? await loudnessOf(path, track, signal) : null,
  }
}

async function md5Of(path: string): Promise<Buffer> {
  const hash = createHash('md5')
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer)
  return hash.digest()
}

async function loudnessOf(path: string, { input }: WantedTrack, signal: AbortSignal | undefined): Promise<Loudness> {
  const format: PcmFormat = { ...pcmFormatFor(input), sample: 'f32' }
  const meter = new LoudnessMeter(format)
  const raw = ['-f', (input.codec ?? '').replace(/^pcm_/, ''), '-ar', String(input.sampleRate)]
  const { stdout, done } = streamFfmpeg(
    {
      inputs: [{ url: fileUrl(path), options: [...raw, '-ac', String(input.channels)] }],
      outputs: [{ url: 'pipe:1', options: ['-c:a', 'pcm_f32le', '-f', 'f32le'] }],
    },
    { signal, input: path },
  )
  for await (const chunk of wholeFrames(stdout, frameBytes(format))) meter.push(chunk)
  await done
  return meter.result()
}
