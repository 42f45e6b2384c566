import { correct, type RegenerateOptions } from '../../../src/voice/index.js'
import { floatsOf, inBuffers } from './float-buffers.js'

interface Regeneration extends RegenerateOptions {
  readonly channelCount?: number
  readonly bufferBytes?: number
}

/** The sound with what the engine adds to it, as the service adds it. As long as the engine's output. */
export async function regenerated(
  samples: Float32Array,
  { channelCount = 1, bufferBytes = 1 << 16, ...options }: Regeneration,
): Promise<Float32Array> {
  const added = await floatsOf(correct({ channelCount, buffers: inBuffers(samples, bufferBytes) }, options))
  return added.map((value, i) => value + (samples[i] ?? 0))
}
