import { frameBytes, type PcmFormat, type PcmStream } from '../../../src/media/pcm/pcm.js'
import { BUFFER_FRAMES } from '../../../src/media/pcm/pcm-streams.js'

/** A stream of samples that are already in memory. As with a file, the next buffer overwrites the last one. */
export function pcmFromBuffer(format: PcmFormat, bytes: Buffer, bufferFrames = BUFFER_FRAMES): PcmStream {
  const frame = frameBytes(format)
  const sampleCount = Math.floor(bytes.length / frame)
  return {
    format,
    sampleCount,
    async *buffers() {
      const room = Buffer.alloc(Math.min(bufferFrames, sampleCount) * frame)
      for (let at = 0; at < sampleCount; at += bufferFrames) {
        const length = bytes.copy(room, 0, at * frame, Math.min(at + bufferFrames, sampleCount) * frame)
        yield room.subarray(0, length)
      }
    },
  }
}

/** Collects a stream in memory. */
export async function collectPcm(stream: PcmStream): Promise<Buffer> {
  const parts: Buffer[] = []
  for await (const buffer of stream.buffers()) parts.push(Buffer.from(buffer))
  return Buffer.concat(parts)
}
