import type { Block } from './block-plan.js'
import type { VoiceEngine } from './engine.js'
import { FRAME_SAMPLES } from './rnnoise.js'

/**
 * An engine that does no work in vain. A silent block stays silent. Channels that are the same to the bit, as in dual
 * mono, are regenerated once, as mono would be.
 */
export function sparing(engine: VoiceEngine): VoiceEngine {
  return {
    plan: engine.plan,
    regenerate: spared(engine.regenerate),
    lowerBed: spared(engine.lowerBed),
    judge: async (block) => {
      const nothing = noVoice(block)
      return isSilent(block) ? { strength: nothing, bed: nothing, probability: nothing } : engine.judge(block)
    },
    detect: async (block) => (isSilent(block) ? noVoice(block) : engine.detect(block)),
  }
}

/** Silence is returned as it is: it is also what to add to silence. */
function spared(work: VoiceEngine['regenerate']): VoiceEngine['regenerate'] {
  return async (block, onShare) => {
    if (isSilent(block)) {
      const channels = block.channels.map((channel) => channel.slice(block.innerStart, block.innerEnd))
      return { channels, probability: noVoice(block) }
    }
    const [first, ...others] = block.channels
    if (!first || others.length === 0 || !others.every((other) => first.every((value, i) => value === other[i])))
      return work(block, onShare)
    const { channels, probability } = await work({ ...block, channels: [first] }, onShare)
    return { channels: block.channels.flatMap(() => channels.map((channel) => channel.slice())), probability }
  }
}

function isSilent({ channels }: Block): boolean {
  return channels.every((channel) => channel.every((value) => value === 0))
}

function noVoice({ innerStart, innerEnd }: Block): Float32Array<ArrayBuffer> {
  return new Float32Array(Math.ceil((innerEnd - innerStart) / FRAME_SAMPLES))
}
