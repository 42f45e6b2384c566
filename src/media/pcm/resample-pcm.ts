import { streamFfmpeg } from '../ffmpeg/ffmpeg.js'
import { frameBytes, type PcmFormat, type PcmStream, rawFormatName } from './pcm.js'
import { wholeFrames } from './pcm-streams.js'

/**
 * Resamples a stream of 32-bit floats, aligned to the sample: sample N of the result is at the time of sample `N *
 * stream rate / sampleRate`. The length may differ from the exact quotient by a few samples.
 *
 * @throws while reading: every error of the stream or of ffmpeg's runner
 */
export function resamplePcm(
  stream: PcmStream,
  sampleRate: number,
  options: { signal?: AbortSignal | undefined },
): PcmStream {
  if (stream.format.sampleRate === sampleRate) return stream
  const format: PcmFormat = { ...stream.format, sampleRate }
  return { format, sampleCount: null, buffers: () => resampledBuffers(stream, format, options.signal) }
}

async function* resampledBuffers(
  stream: PcmStream,
  format: PcmFormat,
  signal: AbortSignal | undefined,
): AsyncGenerator<Buffer> {
  const raw = ['-f', rawFormatName(stream.format.sample)]
  const layout = ['-ac', String(format.channels)]
  const { stdout } = streamFfmpeg(
    {
      inputs: [
        {
          url: stream.buffers(),
          options: [...raw, '-ar', String(stream.format.sampleRate), ...layout],
        },
      ],
      // A longer filter than the default, so that its pass band ends closer to the top.
      filterComplex: `[0:a]aresample=${format.sampleRate}:filter_size=64:cutoff=0.985[pcm]`,
      outputs: [{ url: 'pipe:1', options: ['-map', '[pcm]', ...raw, ...layout] }],
    },
    { signal },
  )
  yield* wholeFrames(stdout, frameBytes(format))
}
