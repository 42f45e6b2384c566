import type { PcmStream } from './pcm.js'
import { PcmReader } from './pcm-reader.js'
import { readSamples, writeSamples } from './pcm-samples.js'
import { BUFFER_FRAMES } from './pcm-streams.js'

/**
 * Adds two streams of one rate and layout. The result has the sample type and length of the first. If the second is 0
 * or has ended, the first stays as it is, bit for bit.
 */
export function addPcm(source: PcmStream, addition: PcmStream): PcmStream {
  return { format: source.format, sampleCount: source.sampleCount, buffers: () => summedBuffers(source, addition) }
}

async function* summedBuffers(source: PcmStream, addition: PcmStream): AsyncGenerator<Buffer> {
  const [samples, additions] = [new PcmReader(source), new PcmReader(addition)]
  const { sample } = source.format
  try {
    for (;;) {
      // The addition first: a source that is read once has its samples only then.
      const added = readSamples(await additions.read(BUFFER_FRAMES), addition.format.sample)
      const values = readSamples(await samples.read(BUFFER_FRAMES), sample)
      if (values.length === 0) return
      const count = Math.min(values.length, added.length)
      for (let i = 0; i < count; i++) values[i] = (values[i] ?? 0) + (added[i] ?? 0)
      yield writeSamples(values, sample)
    }
  } finally {
    await Promise.all([samples.close(), additions.close()])
  }
}
