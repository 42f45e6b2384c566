import { streamFfmpeg } from '../../ffmpeg/ffmpeg.js'
import { fileUrl } from '../../ffmpeg/input-safety.js'
import { type Loudness, type LoudnessMaxima, LoudnessMeter } from '../../pcm/loudness-meter.js'
import { frameBytes, type PcmFormat } from '../../pcm/pcm.js'
import { wholeFrames } from '../../pcm/pcm-streams.js'
import { NOT_MEASURED } from '../../probe/wave-chunks.js'
import type { ChannelPeak } from './peak-list.js'

/** The five loudness figures of a `bext` chunk (EBU Tech 3285, version 2). */
interface BextLoudness extends Loudness, LoudnessMaxima {}

/** The facts that a file states about its samples, for new ones. */
export interface PcmDonor {
  readonly md5: Buffer | null
  readonly loudness: BextLoudness | null
  /** By channel. */
  readonly peaks: readonly ChannelPeak[] | null
}

/** The loudness fields of bext for the new audio. */
export function loudnessFields(loudness: BextLoudness): Buffer {
  const { integratedLufs, rangeLu, truePeakDbtp, momentaryMaxLufs, shortTermMaxLufs } = loudness
  const fields = Buffer.alloc(10)
  const measured = [integratedLufs, rangeLu, truePeakDbtp, momentaryMaxLufs, shortTermMaxLufs]
  for (const [place, value] of measured.entries()) {
    fields.writeInt16LE(value === null ? NOT_MEASURED : Math.round(100 * value), 2 * place)
  }
  return fields
}

/** Measures the only track of a file. @param readOptions with which ffmpeg reads it */
export async function measureBext(
  path: string,
  format: PcmFormat,
  readOptions: readonly string[],
  signal: AbortSignal | undefined,
): Promise<BextLoudness> {
  const metered: PcmFormat = { ...format, sample: 'f32' }
  const meter = new LoudnessMeter(metered)
  const { stdout, done } = streamFfmpeg(
    {
      inputs: [{ url: fileUrl(path), options: readOptions }],
      outputs: [{ url: 'pipe:1', options: ['-c:a', 'pcm_f32le', '-f', 'f32le'] }],
    },
    { signal, input: path },
  )
  for await (const chunk of wholeFrames(stdout, frameBytes(metered))) meter.push(chunk)
  await done
  return { ...meter.result(), ...meter.maxima() }
}
