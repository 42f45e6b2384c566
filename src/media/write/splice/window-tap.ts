import { createReadStream } from 'node:fs'
import { appendFile, writeFile } from 'node:fs/promises'
import { frameBytes, type PcmFormat, type PcmStream } from '../../pcm/pcm.js'
import { slicePcm, wholeFrames } from '../../pcm/pcm-streams.js'

/** A part of a voice that is kept in a side file, on the file's clock. */
export interface SoundWindow {
  readonly path: string
  readonly startSample: number
  readonly sampleCount: number
}

/** Reads a voice once to its end, and keeps some parts of it. Opens one file at a time: there may be hundreds. */
export async function tapWindows(voice: PcmStream, windows: readonly SoundWindow[]): Promise<void> {
  const frame = frameBytes(voice.format)
  for (const { path } of windows) await writeFile(path, '', { flag: 'wx', mode: 0o600 })
  let at = 0
  for await (const chunk of voice.chunks()) {
    const end = at + chunk.length / frame
    for (const { path, startSample, sampleCount } of windows) {
      const from = Math.max(at, startSample)
      const to = Math.min(end, startSample + sampleCount)
      if (to > from) await appendFile(path, chunk.subarray((from - at) * frame, (to - at) * frame))
    }
    at = end
  }
}

/** Samples of a window, counted on the file's clock. Before the file's zero and behind the voice is silence. */
export function windowSound(
  { path, startSample }: SoundWindow,
  format: PcmFormat,
  fromSample: number,
  sampleCount: number,
): PcmStream {
  const frame = frameBytes(format)
  const lead = Math.max(0, Math.max(0, startSample) - fromSample)
  const skipped = Math.max(0, fromSample - Math.max(0, startSample))
  const rest: PcmStream = {
    format,
    sampleCount: null,
    chunks: () => wholeFrames(createReadStream(path, { start: skipped * frame }), frame),
  }
  return slicePcm(rest, -lead, sampleCount)
}
