import { frameBytes, type PcmFormat, type PcmStream } from '../../../src/media/pcm/pcm.js'
import { CHUNK_FRAMES } from '../../../src/media/pcm/pcm-streams.js'

/** A stream of samples that are already in memory. */
export function pcmFromBuffer(format: PcmFormat, bytes: Buffer, chunkFrames = CHUNK_FRAMES): PcmStream {
  const frame = frameBytes(format)
  const sampleCount = Math.floor(bytes.length / frame)
  return {
    format,
    sampleCount,
    async *chunks() {
      for (let at = 0; at < sampleCount; at += chunkFrames) {
        yield bytes.subarray(at * frame, Math.min(at + chunkFrames, sampleCount) * frame)
      }
    },
  }
}

/** Collects a stream in memory. */
export async function collectPcm(stream: PcmStream): Promise<Buffer> {
  const parts: Buffer[] = []
  for await (const chunk of stream.chunks()) parts.push(chunk)
  return Buffer.concat(parts)
}
