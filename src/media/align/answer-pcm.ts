import { streamFfmpeg } from '../ffmpeg/ffmpeg.js'
import { fileUrl, safeInputOptions } from '../ffmpeg/input-safety.js'
import { frameBytes, type PcmFormat, type PcmStream, pcmCodecName, rawFormatName } from '../pcm/pcm.js'
import { PcmReader } from '../pcm/pcm-reader.js'
import { wholeFrames } from '../pcm/pcm-streams.js'
import type { SampleRange } from '../voice-cut.js'

/** An audio file read through filters as PCM of a known format. */
export interface FilteredAudio {
  readonly path: string
  readonly filters: readonly string[]
  readonly format: PcmFormat
  /** True if a seek to a whole second is exact (PCM and FLAC without resampling). */
  readonly seeksExactly: boolean
  readonly signal: AbortSignal | undefined
}

/** The whole file, from its first sample. */
export function filteredPcm({ path, filters, format, signal }: FilteredAudio): PcmStream {
  return {
    format,
    sampleCount: null,
    chunks: () => run(path, [[]], `[0:a:0]${filters.join(',') || 'anull'}[pcm]`, format, signal),
  }
}

/**
 * Reads parts of a file in order, each of exactly its range's length, with silence before the file's start and after
 * its end. With exact seeking, one ffmpeg decodes only the parts. Otherwise the file is read through once. Either way
 * one part at most is in memory, valid until the next one is requested.
 */
export async function* readParts(audio: FilteredAudio, ranges: readonly SampleRange[]): AsyncGenerator<Buffer> {
  const inside = ranges.map(({ startSample, endSample }) => ({
    startSample: Math.max(0, startSample),
    endSample: Math.max(0, endSample),
  }))
  const seeks = audio.seeksExactly && inside.every(({ startSample }) => startSample % audio.format.sampleRate === 0)
  const parts = seeks && ranges.length > 1 ? seekedParts(audio, inside) : scannedParts(audio, inside)
  let index = 0
  for await (const bytes of parts) {
    const { startSample, endSample } = ranges[index++] as SampleRange
    yield padded(
      bytes,
      Math.min(Math.max(0, -startSample), endSample - startSample),
      endSample - startSample,
      audio.format,
    )
  }
}

/** One ffmpeg opens the file once per part and concatenates the parts. */
async function* seekedParts(audio: FilteredAudio, ranges: readonly SampleRange[]): AsyncGenerator<Buffer> {
  const { path, format, signal } = audio
  const { sampleRate } = format
  const inputs = ranges.map(({ startSample, endSample }) => [
    ...['-ss', String(startSample / sampleRate)],
    ...['-t', String((endSample - startSample) / sampleRate + 0.1)],
  ])
  const graph = ranges.map(({ startSample, endSample }, index) => {
    const length = endSample - startSample
    return `[${index}:a:0]${[...audio.filters, `apad=whole_len=${length}`, `atrim=end_sample=${length}`].join(',')}[part${index}]`
  })
  const labels = ranges.map((_, index) => `[part${index}]`).join('')
  const joined = `${graph.join(';')};${labels}concat=n=${ranges.length}:v=0:a=1[pcm]`
  const lengths = ranges.map(({ startSample, endSample }) => (endSample - startSample) * frameBytes(format))
  yield* portions(run(path, inputs, joined, format, signal), lengths)
}

/** Portions of the given lengths in one shared buffer. New buffers would leave megabytes of garbage. */
async function* portions(chunks: AsyncIterable<Buffer>, lengths: readonly number[]): AsyncGenerator<Buffer> {
  const room = Buffer.alloc(Math.max(...lengths))
  let filled = 0
  let place = 0
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; ) {
      const length = lengths[place]
      if (length === undefined) return
      const taken = chunk.copy(room, filled, at, at + length - filled)
      at += taken
      filled += taken
      if (filled < length) continue
      yield room.subarray(0, length)
      filled = 0
      place++
    }
  }
  for (; place < lengths.length; place++) {
    yield room.subarray(0, filled)
    filled = 0
  }
}

async function* scannedParts(audio: FilteredAudio, ranges: readonly SampleRange[]): AsyncGenerator<Buffer> {
  const frame = frameBytes(audio.format)
  const reader = new PcmReader(filteredPcm(audio))
  // Keeps the tail of a part if the next one begins before its end.
  let held: Buffer = Buffer.alloc(0)
  let heldFrom = 0
  try {
    for (const { startSample, endSample } of ranges) {
      const heldEnd = heldFrom + held.length / frame
      const reuse = held.subarray(Math.min(held.length, Math.max(0, startSample - heldFrom) * frame))
      if (startSample > heldEnd) await reader.skip(startSample - heldEnd)
      const fresh = await reader.read(Math.max(0, endSample - Math.max(startSample, heldEnd)))
      held = Buffer.concat([reuse, fresh])
      heldFrom = startSample
      yield held.subarray(0, (endSample - startSample) * frame)
    }
  } finally {
    await reader.close()
  }
}

function padded(bytes: Buffer, leadSamples: number, sampleCount: number, format: PcmFormat): Buffer {
  const frame = frameBytes(format)
  if (leadSamples === 0 && bytes.length === sampleCount * frame) return bytes
  const out = Buffer.alloc(sampleCount * frame)
  bytes.copy(out, leadSamples * frame)
  return out
}

async function* run(
  path: string,
  inputOptions: readonly (readonly string[])[],
  filterComplex: string,
  format: PcmFormat,
  signal: AbortSignal | undefined,
): AsyncGenerator<Buffer> {
  const { stdout } = streamFfmpeg(
    {
      inputs: inputOptions.map((options) => ({ url: fileUrl(path), options: [...safeInputOptions(), ...options] })),
      filterComplex,
      outputs: [
        {
          url: 'pipe:1',
          options: ['-map', '[pcm]', '-c:a', pcmCodecName(format.sample), '-f', rawFormatName(format.sample)],
        },
      ],
    },
    { signal, input: path },
  )
  yield* wholeFrames(stdout, frameBytes(format))
}
