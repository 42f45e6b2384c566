import { holdVoice } from '../jobs/index.js'
import { valueSha256 } from './file-identity.js'
import type { RegeneratedVoice, VoiceOrder, VoiceProgress, VoiceServiceContext } from './voice-service.js'
import { VoiceWork } from './voice-work.js'
import { stillRunning } from './wait-for-voice.js'

/**
 * Has a voice regenerated, or takes what is there already: from the cache, or from a process that an earlier run
 * started. Each step is in the ledger before it is waited for, so that after a crash at any instant the same file id
 * is attached to and nothing is paid for twice.
 *
 * @throws whatever the client throws; JobFailedError with the service's file error code; PrecheckError
 *   `ERR_SPENDING_LIMIT`
 */
export async function regenerateVoice(
  order: VoiceOrder,
  context: VoiceServiceContext,
  progress: VoiceProgress = {},
): Promise<RegeneratedVoice> {
  const { signal, waitUntilMs } = progress
  const held = await holdVoice(context.voices, voiceKey(order, context.serviceIdentity), {
    signal,
    onWait: () => {
      if (waitUntilMs !== undefined && Date.now() >= waitUntilMs) throw stillRunning('another job works on this voice')
    },
  })
  try {
    const work = new VoiceWork(order, context, progress, held)
    // What is in the cache needs no place at the service.
    if (held.voice.status === 'cached') return await work.toTheEnd()
    return await context.slots.remote.run(() => work.toTheEnd(), held.signal)
  } finally {
    await held.release()
  }
}

/** Key under which a voice is known to cache and ledger: the sound, what is asked of it, and of whom. */
function voiceKey(order: VoiceOrder, serviceIdentity: string): string {
  const { voiceHash, model, outputType } = order
  return valueSha256({ voiceHash, model, outputType, serviceIdentity })
}
