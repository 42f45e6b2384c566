import { frameBytes, type PcmFormat, type PcmStream } from './pcm.js'

/** Frames per buffer: half a second at 48 kHz would delay, and a pipe's 64 KiB would mean many small calls. */
export const BUFFER_FRAMES = 8192

/** A stream of digital silence. */
export function silentPcm(format: PcmFormat, sampleCount: number): PcmStream {
  const zeros = Buffer.alloc(BUFFER_FRAMES * frameBytes(format))
  return {
    format,
    sampleCount,
    async *buffers() {
      for (let left = sampleCount; left > 0; left -= BUFFER_FRAMES) {
        yield zeros.subarray(0, Math.min(left, BUFFER_FRAMES) * frameBytes(format))
      }
    },
  }
}

/** Splits a byte stream into buffers of whole frames. Drops an incomplete last frame. */
export async function* wholeFrames(source: AsyncIterable<Buffer>, frame: number): AsyncGenerator<Buffer> {
  let rest: Buffer | undefined
  for await (const buffer of source) {
    const bytes: Buffer = rest ? Buffer.concat([rest, buffer]) : buffer
    const whole = bytes.length - (bytes.length % frame)
    rest = whole < bytes.length ? bytes.subarray(whole) : undefined
    if (whole > 0) yield bytes.subarray(0, whole)
  }
}

/** `sampleCount` samples of a source from `startSample` on. Before its start and after its end is silence. */
export function slicePcm(source: PcmStream, startSample: number, sampleCount: number): PcmStream {
  const { format } = source
  const frame = frameBytes(format)
  return {
    format,
    sampleCount,
    async *buffers() {
      let left = sampleCount
      const lead = Math.min(Math.max(-startSample, 0), left)
      if (lead > 0) yield* silentPcm(format, lead).buffers()
      left -= lead
      if (left === 0) return
      let skip = Math.max(startSample, 0)
      for await (const buffer of source.buffers()) {
        const frames = buffer.length / frame
        if (skip >= frames) {
          skip -= frames
          continue
        }
        const taken = Math.min(frames - skip, left)
        yield buffer.subarray(skip * frame, (skip + taken) * frame)
        skip = 0
        left -= taken
        if (left === 0) return
      }
      yield* silentPcm(format, left).buffers()
    },
  }
}
