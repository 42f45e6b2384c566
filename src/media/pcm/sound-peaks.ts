import type { AudioStreamInfo, MediaInfo } from '../media-info.js'
import { readMono } from './decode-pcm.js'

/** Enough for a waveform: nobody looks at frequencies in it. */
const SAMPLE_RATE = 8000
const SAMPLES_PER_PEAK = SAMPLE_RATE / 100

/**
 * Reads the outline of an audio track, to draw it. Decodes the track once, in constant memory for each second.
 *
 * @param mostPeaks of the result
 * @throws {PrecheckError} `ERR_UNREADABLE` (-2) if the track cannot be decoded
 */
export async function soundPeaks(media: MediaInfo, stream: AudioStreamInfo, mostPeaks: number, signal?: AbortSignal) {
  return readMono(media, stream, { sampleRate: SAMPLE_RATE, sample: 's16', signal }, async (buffers) => {
    const fine: number[] = []
    let sampleCount = 0
    for await (const buffer of buffers) {
      for (let at = 0; at < buffer.length; at += 2) {
        const place = Math.floor(sampleCount++ / SAMPLES_PER_PEAK)
        fine[place] = Math.max(fine[place] ?? 0, Math.abs(buffer.readInt16LE(at)))
      }
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
