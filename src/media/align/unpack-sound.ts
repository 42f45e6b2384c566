import { stat } from 'node:fs/promises'
import { type FfmpegCommand, runFfmpeg, streamFfmpeg } from '../ffmpeg/ffmpeg.js'
import { fileUrl, safeInputOptions } from '../ffmpeg/input-safety.js'
import { frameBytes, type PcmFormat } from '../pcm/pcm.js'
import type { PcmFile } from '../pcm/pcm-file.js'
import { rawOutputOptions } from '../pcm/raw-input.js'

/** An audio file read through filters as PCM of a known format. */
interface FilteredSound {
  readonly path: string
  readonly filters: readonly string[]
  readonly format: PcmFormat
  readonly signal: AbortSignal | undefined
}

/**
 * Decodes an audio file once into raw PCM, from its first decoded sample to its last. Measuring, splicing and encoding
 * then read its samples without another decoder.
 *
 * @throws whatever ffmpeg's runner throws
 */
export async function unpackSound(sound: FilteredSound, target: string): Promise<PcmFile> {
  const { path, format, signal } = sound
  await runFfmpeg(command(sound, fileUrl(target)), { signal, input: path })
  const { size } = await stat(target)
  return { path: target, format, sampleCount: Math.floor(size / frameBytes(format)) }
}

/** Decodes an audio file to its end and returns the number of its samples. Keeps none. */
export async function countSamples(sound: FilteredSound): Promise<number> {
  const { path, format, signal } = sound
  const { stdout, done } = streamFfmpeg(command(sound, 'pipe:1'), { signal, input: path })
  let bytes = 0
  for await (const chunk of stdout) bytes += (chunk as Buffer).length
  await done
  return Math.floor(bytes / frameBytes(format))
}

function command({ path, filters, format: { sample } }: FilteredSound, target: string): FfmpegCommand {
  return {
    inputs: [{ url: fileUrl(path), options: safeInputOptions() }],
    filterComplex: `[0:a:0]${filters.join(',') || 'anull'}[pcm]`,
    outputs: [{ url: target, options: ['-map', '[pcm]', ...rawOutputOptions(sample)] }],
  }
}
