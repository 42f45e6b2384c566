import { type ClockRange, decodePcm, type MediaInfo, type PcmFormat } from '../../media/index.js'
import { frameBytes, type PcmStream } from '../../media/pcm/pcm.js'
import { PcmReader } from '../../media/pcm/pcm-reader.js'
import { readSamples, writeSamples } from '../../media/pcm/pcm-samples.js'
import { correct, VOICE_SAMPLE_RATE, type VoicePool, type VoiceTally } from '../../voice/index.js'
import { resamplePcm } from './resample-pcm.js'

export interface RegeneratedTrackOptions {
  readonly pool: VoicePool
  /** The whole track by default. */
  readonly range?: ClockRange | undefined
  readonly signal?: AbortSignal | undefined
  /** Counts how much voice there is. */
  readonly tally?: VoiceTally | undefined
  readonly onProgressSec?: ((doneSec: number) => void) | undefined
}

/**
 * Returns a track with its voice regenerated, at the track's own rate, layout and width, on the file's own clock.
 *
 * The engine works at 48 kHz. Only its *changes* are resampled to the track's rate and added to the track. A rate above
 * 48 kHz therefore keeps its highest band, and a width above 24 bits keeps its lowest bits. Samples without a change
 * pass bit for bit. The file is decoded twice in parallel; memory does not grow with its length.
 */
export function regeneratedTrack(media: MediaInfo, audioIndex: number, options: RegeneratedTrackOptions): PcmStream {
  const { pool, range, signal, tally, onProgressSec } = options
  const source = decodePcm(media, { audioIndex, range, signal })
  const heard = resamplePcm(decodePcm(media, { audioIndex, range, signal, sample: 'f32' }), VOICE_SAMPLE_RATE, {
    signal,
  })
  const format: PcmFormat = heard.format
  const correction: PcmStream = {
    format,
    sampleCount: null,
    chunks: () =>
      correct({ channelCount: format.channels, chunks: heard.chunks() }, { pool, signal, tally, onProgressSec }),
  }
  return addPcm(source, resamplePcm(correction, source.format.sampleRate, { signal }))
}

/**
 * Adds two streams of one rate and layout. The result has the sample type and length of the first. If the second is 0
 * or has ended, the first stays as it is, bit for bit.
 */
function addPcm(source: PcmStream, addition: PcmStream): PcmStream {
  return { format: source.format, sampleCount: source.sampleCount, chunks: () => summedChunks(source, addition) }
}

async function* summedChunks(source: PcmStream, addition: PcmStream): AsyncGenerator<Buffer> {
  const reader = new PcmReader(addition)
  const { sample } = source.format
  try {
    for await (const chunk of source.chunks()) {
      const added = readSamples(await reader.read(chunk.length / frameBytes(source.format)), addition.format.sample)
      const values = readSamples(chunk, sample)
      for (let i = 0; i < added.length; i++) values[i] = (values[i] ?? 0) + (added[i] ?? 0)
      yield writeSamples(values, sample)
    }
  } finally {
    await reader.close()
  }
}
