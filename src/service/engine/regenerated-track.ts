import { type ClockRange, decodePcm, type MediaInfo } from '../../media/index.js'
import { addPcm } from '../../media/pcm/add-pcm.js'
import type { PcmStream } from '../../media/pcm/pcm.js'
import { readSamples, writeSamples } from '../../media/pcm/pcm-samples.js'
import { resamplePcm } from '../../media/pcm/resample-pcm.js'
import { correct, type RegenerateOptions, VOICE_SAMPLE_RATE } from '../../voice/index.js'

interface RegeneratedTrackOptions extends RegenerateOptions {
  /** The whole track by default. */
  readonly range?: ClockRange | undefined
}

/**
 * A track of up to this length is decoded once. In a longer one, the engine is some blocks ahead of the result. Their
 * samples would take too much memory, so the track is decoded twice.
 */
const DECODED_ONCE_SEC = 60

/**
 * Returns a track with its voice regenerated, at the track's own rate, layout and width, on the file's own clock.
 *
 * The engine works at 48 kHz. Only its *changes* are resampled to the track's rate and added to the track. A rate above
 * 48 kHz therefore keeps its highest band, and a width above 24 bits keeps its lowest bits. Samples without a change
 * pass bit for bit. Memory does not grow with the file's length.
 */
export function regeneratedTrack(media: MediaInfo, audioIndex: number, options: RegeneratedTrackOptions): PcmStream {
  const { pool, range, signal, tally, onProgressSec } = options
  const decoded = decodePcm(media, { audioIndex, range, signal })
  const { sampleCount } = decoded
  const lengthSec = sampleCount === null ? media.durationSec : sampleCount / decoded.format.sampleRate
  const isShort = lengthSec !== null && lengthSec <= DECODED_ONCE_SEC
  const once = isShort ? readOnce(decoded) : null
  const source = once?.source ?? decoded
  const floats = once?.floats ?? decodePcm(media, { audioIndex, range, signal, sample: 'f32' })
  const heard = resamplePcm(floats, VOICE_SAMPLE_RATE, { signal })
  const { format } = heard
  const correction: PcmStream = {
    format,
    sampleCount: null,
    buffers: () =>
      correct({ channelCount: format.channels, buffers: heard.buffers() }, { pool, signal, tally, onProgressSec }),
  }
  return addPcm(source, resamplePcm(correction, source.format.sampleRate, { signal }))
}

/** One reading of a stream as floats and as samples, which are kept. The floats must be read first. */
function readOnce(stream: PcmStream): { readonly source: PcmStream; readonly floats: PcmStream } {
  const { format } = stream
  const kept: Buffer[] = []
  return {
    source: {
      ...stream,
      async *buffers() {
        for (let buffer = kept.shift(); buffer; buffer = kept.shift()) yield buffer
      },
    },
    floats: {
      format: { ...format, sample: 'f32' },
      sampleCount: stream.sampleCount,
      async *buffers() {
        for await (const buffer of stream.buffers()) {
          kept.push(Buffer.from(buffer))
          yield writeSamples(readSamples(buffer, format.sample), 'f32')
        }
      },
    },
  }
}
