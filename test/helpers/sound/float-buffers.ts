/** Samples as a stream of bytes in buffers of a size of one's own (odd ones split samples). */
export async function* inBuffers(samples: Float32Array, bufferBytes: number): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength)
  for (let at = 0; at < bytes.length; at += bufferBytes) yield bytes.subarray(at, at + bufferBytes)
}

/** All samples of a stream of bytes. */
export async function floatsOf(buffers: AsyncIterable<Uint8Array>): Promise<Float32Array> {
  const parts: Uint8Array[] = []
  for await (const buffer of buffers) parts.push(buffer)
  return new Float32Array(Uint8Array.from(Buffer.concat(parts)).buffer)
}

/** Channels laid side by side. */
export function interleaved(channels: readonly Float32Array[]): Float32Array {
  const length = channels[0]?.length ?? 0
  const out = new Float32Array(length * channels.length)
  for (const [c, channel] of channels.entries())
    for (let i = 0; i < length; i++) out[i * channels.length + c] = channel[i] ?? 0
  return out
}

/** One channel of interleaved samples. */
export function channelOf(samples: Float32Array, channel: number, channelCount: number): Float32Array {
  return Float32Array.from(
    { length: samples.length / channelCount },
    (_, i) => samples[i * channelCount + channel] ?? 0,
  )
}
