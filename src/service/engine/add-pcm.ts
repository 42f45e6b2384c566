import { frameBytes, type PcmStream } from '../../media/pcm/pcm.js'
import { PcmReader } from '../../media/pcm/pcm-reader.js'
import { readSamples, writeSamples } from '../../media/pcm/pcm-samples.js'

/**
 * Adds two streams of one rate and layout. The result has the sample type and length of the first. If the second is 0
 * or has ended, the first stays as it is, bit for bit.
 */
export function addPcm(source: PcmStream, addition: PcmStream): PcmStream {
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
