import { createReadStream } from 'node:fs'
import { appendFile, writeFile } from 'node:fs/promises'
import { frameBytes, type PcmFormat, type PcmStream } from '../../pcm/pcm.js'
import { slicePcm, wholeFrames } from '../../pcm/pcm-streams.js'
import { NoSplice } from './splice-job.js'

/** A part of a voice that is kept in a side file, on the file's clock. */
export interface SoundWindow {
  readonly path: string
  readonly startSample: number
  readonly sampleCount: number
}

/**
 * Reads a voice once, to its end or only its sections, and keeps some parts of it. Opens one file at a time: there may be
 * hundreds.
 *
 * @throws {NoSplice} if no section holds the beginning of a window
 */
export async function tapWindows(voice: PcmStream, windows: readonly SoundWindow[]): Promise<void> {
  const frame = frameBytes(voice.format)
  for (const { path } of windows) await writeFile(path, '', { flag: 'wx', mode: 0o600 })
  const begun = new Set<SoundWindow>()
  for (const section of voice.sections ?? [{ startSample: 0, stream: voice }]) {
    let at = section.startSample
    for await (const buffer of section.stream.buffers()) {
      const end = at + buffer.length / frame
      for (const window of windows) {
        const { path, startSample, sampleCount } = window
        const from = Math.max(at, startSample)
        const to = Math.min(end, startSample + sampleCount)
        if (to <= from) continue
        if (from === Math.max(0, startSample)) begun.add(window)
        await appendFile(path, buffer.subarray((from - at) * frame, (to - at) * frame))
      }
      at = end
    }
  }
  if (voice.sections && begun.size < windows.length)
    throw new NoSplice('the sound around a regenerated part is missing')
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
    buffers: () => wholeFrames(createReadStream(path, { start: skipped * frame }), frame),
  }
  return slicePcm(rest, -lead, sampleCount)
}
