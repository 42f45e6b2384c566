import { valueSha256 } from '../../core/file-identity.js'
import { type HeldVoice, holdVoice } from '../../ledger/index.js'
import {
  type RegeneratedVoice,
  serviceMark,
  type VoiceProgress,
  type VoiceRequest,
  type VoiceServiceContext,
} from './voice-service.js'
import { fileIdOf, VoiceSteps } from './voice-steps.js'
import { stillRunning } from './wait-for-voice.js'

/**
 * Has a voice regenerated, or reuses what exists: the cache, or a process that an earlier run started. Each step enters
 * the ledger before it is awaited. After a crash at any moment, the same file id is attached to and nothing is paid for
 * twice.
 *
 * @throws whatever the client throws; JobFailedError with the service's file error code
 * @throws PrecheckError `ERR_SPENDING_LIMIT`
 * @throws VerificationError if the regenerated audio is unusable, even after another download and another try
 */
export async function regenerateVoice<Judged>(
  request: VoiceRequest<Judged>,
  context: VoiceServiceContext,
  progress: VoiceProgress = {},
): Promise<RegeneratedVoice<Judged>> {
  const held = await hold(request, context, progress)
  const steps = new VoiceSteps(request, context, progress, held)
  let freeSlot: (() => void) | undefined
  try {
    // Not only when the voice has been paid for.
    await context.cache.requireFolder()
    // The ledger was lost, or is from a back-up, but the cache may have the paid audio.
    if (held.voice.status !== 'cached' && (await steps.takeCached())) return steps.result()
    // Cached audio needs no place at the service.
    if (held.voice.status !== 'cached') freeSlot = await context.slots.remote.take(held.signal)
    // From the status in which an earlier run left the voice to `cached`.
    for (;;) {
      const { voice } = held
      switch (voice.status) {
        case 'new':
        case 'registering':
          await steps.send()
          break
        case 'registered':
        case 'failed':
          await steps.sendAgain()
          break
        case 'uploaded':
          await steps.start()
          break
        case 'starting':
          await steps.resumeStart(fileIdOf(voice))
          break
        case 'started':
          await steps.wait(fileIdOf(voice))
          break
        case 'succeeded':
          await steps.fetch(fileIdOf(voice))
          break
        case 'cached':
          if (steps.isDownloaded || (await steps.takeCached())) return steps.result()
          // The cache was emptied, or its audio was useless. The service may still have the output, which is paid for.
          await held.advance({ status: 'succeeded' })
          break
        default:
          voice.status satisfies never
      }
    }
  } catch (error) {
    throw held.signal.aborted ? held.signal.reason : error
  } finally {
    freeSlot?.()
    await held.release()
  }
}

function hold(
  request: VoiceRequest<unknown>,
  { voices, serviceIdentity }: VoiceServiceContext,
  { signal, waitUntilMs }: VoiceProgress,
): Promise<HeldVoice> {
  return holdVoice(voices, voiceKey(request, serviceIdentity), {
    signal,
    onWait: () => {
      if (waitUntilMs !== undefined && Date.now() >= waitUntilMs) throw stillRunning('Another job works on this voice.')
    },
  })
}

/** Key of a voice in cache and ledger: the audio, the settings, and the service, with whose mark it ends. */
function voiceKey(request: VoiceRequest<unknown>, serviceIdentity: string): string {
  const { voiceHash, model, outputType } = request
  const mark = serviceMark(serviceIdentity)
  return valueSha256({ voiceHash, model, outputType, serviceIdentity }).slice(mark.length) + mark
}
