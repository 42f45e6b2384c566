import { blamingFile } from '../ffmpeg/blaming-file.js'
import { streamFfmpeg } from '../ffmpeg/ffmpeg.js'
import type { AudioStreamInfo, MediaInfo } from '../media-info.js'
import { fileClockFilters } from './clock-filters.js'
import { decodedInput, fileClock } from './file-clock.js'

export interface SoundPeaks {
  readonly durationSec: number
  /** The highest sample of each equal stretch of time, 0 to 1. */
  readonly peaks: readonly number[]
}

/** Enough for a waveform: nobody looks at frequencies in it. */
const SAMPLE_RATE = 8000
const SAMPLES_PER_PEAK = SAMPLE_RATE / 100

/**
 * Reads the outline of an audio track, to draw it. Decodes the track once, in constant memory for each second.
 *
 * @param mostPeaks of the result
 * @throws {PrecheckError} `ERR_UNREADABLE` (-2) if the track cannot be decoded
 */
export async function soundPeaks(
  media: MediaInfo,
  stream: AudioStreamInfo,
  mostPeaks: number,
  signal?: AbortSignal,
): Promise<SoundPeaks> {
  const { path } = media
  const onClock = fileClockFilters(fileClock(media, stream), { kind: 'all' })
  const filters = [...onClock, `aresample=${SAMPLE_RATE}`, 'aformat=sample_fmts=s16:channel_layouts=mono']
  return blamingFile(path, signal, async () => {
    const { stdout } = streamFfmpeg(
      {
        inputs: [decodedInput(media)],
        filterComplex: `[0:a:${stream.audioIndex}]${filters.join(',')}[pcm]`,
        outputs: [{ url: 'pipe:1', options: ['-map', '[pcm]', '-f', 's16le', '-c:a', 'pcm_s16le'] }],
      },
      { signal, input: path },
    )
    const fine: number[] = []
    let sampleCount = 0
    let left: Buffer = Buffer.alloc(0)
    for await (const chunk of stdout as AsyncIterable<Buffer>) {
      const bytes = left.length > 0 ? Buffer.concat([left, chunk]) : chunk
      const end = bytes.length - (bytes.length % 2)
      for (let at = 0; at < end; at += 2) {
        const place = Math.floor(sampleCount++ / SAMPLES_PER_PEAK)
        fine[place] = Math.max(fine[place] ?? 0, Math.abs(bytes.readInt16LE(at)))
      }
      left = bytes.subarray(end)
    }
    const perPeak = Math.max(1, Math.ceil(fine.length / mostPeaks))
    const peaks = Array.from({ length: Math.ceil(fine.length / perPeak) }, (_, place) =>
      Math.max(...fine.slice(place * perPeak, (place + 1) * perPeak)),
    )
    return {
      durationSec: sampleCount / SAMPLE_RATE,
      peaks: peaks.map((peak) => Math.round((1000 * peak) / 32_768) / 1000),
    }
  })
}
