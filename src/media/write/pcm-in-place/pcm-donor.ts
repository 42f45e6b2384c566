import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { pcmFormatFor } from '../../pcm/pcm.js'
import type { WantedTrack } from '../writer.js'
import { measureBext, type PcmDonor } from './bext-loudness.js'
import type { InPlaceFile } from './in-place-file.js'
import { measurePeaks } from './peak-list.js'
import type { StaleChunk } from './stale-chunks.js'

interface DonorSamples {
  /** Options with which ffmpeg reads the file. */
  readonly readOptions: readonly string[]
  /** Bytes of the samples; all by default. */
  readonly range?: { readonly start: number; readonly length: number }
}

interface MeasureOptions {
  readonly track: WantedTrack
  readonly stale: readonly StaleChunk[]
  readonly samples: DonorSamples
  readonly signal: AbortSignal | undefined
}

/** Measures in a side file of raw samples the facts that the input states about its own. */
export function readPcmDonor(
  path: string,
  track: WantedTrack,
  signal: AbortSignal | undefined,
  { stale }: InPlaceFile,
): Promise<PcmDonor> {
  const { codec, sampleRate, channels } = track.input
  const raw = ['-f', (codec ?? '').replace(/^pcm_/, ''), '-ar', String(sampleRate), '-ac', String(channels)]
  return measureSamples(path, { track, stale, samples: { readOptions: raw }, signal })
}

/** Measures the facts of some chunks for the samples in a side file; reads nothing if there are no such chunks. */
export async function measureSamples(
  path: string,
  { track, stale, samples, signal }: MeasureOptions,
): Promise<PcmDonor> {
  const metered = { ...pcmFormatFor(track.input), channels: track.channels }
  const needs = (kind: StaleChunk['kind']) => stale.some((each) => each.kind === kind)
  return {
    md5: needs('md5') ? await md5Of(path, samples) : null,
    loudness: needs('loudness') ? await measureBext(path, metered, samples.readOptions, signal) : null,
    peaks: needs('peaks') ? await measurePeaks(path, metered, samples.readOptions, signal) : null,
  }
}

async function md5Of(path: string, { range }: DonorSamples): Promise<Buffer> {
  const hash = createHash('md5')
  const part = range ? { start: range.start, end: range.start + range.length - 1 } : {}
  for await (const chunk of createReadStream(path, part)) hash.update(chunk as Buffer)
  return hash.digest()
}
