import { sleep } from '../core/time.js'
import { DEFAULT_LEASE_MS } from './job-store.js'
import { keepLease } from './lease-keeper.js'
import type { Voice, VoiceStep } from './voice.js'
import type { VoiceLedger } from './voice-ledger.js'

/** A voice in hand: its lease is kept up by itself until it is released. */
export interface HeldVoice {
  /** As last written. */
  readonly voice: Voice
  /** Fires when the lease is lost, or on the caller's abort. */
  readonly signal: AbortSignal
  /** Writes a step; see `VoiceLedger.advance`. */
  advance(step: VoiceStep): Promise<Voice>
  /** Lets go, so that another may go on from here. */
  release(): Promise<void>
}

export interface HoldVoiceOptions {
  readonly signal?: AbortSignal | undefined
  /** Called each time another is found working on this voice and has to be waited for; what it throws ends the waiting. */
  readonly onWait?: (voice: Voice) => void
  /** How often to ask then; default 500. */
  readonly pollMs?: number
  readonly leaseMs?: number
}

/**
 * Claims a voice, waiting for as long as another process works on it: who comes second finds it `cached` as a rule,
 * and has nothing to pay.
 */
export async function holdVoice(ledger: VoiceLedger, key: string, options: HoldVoiceOptions = {}): Promise<HeldVoice> {
  const { signal, onWait, pollMs = 500, leaseMs = DEFAULT_LEASE_MS } = options
  let claim = await ledger.claim(key, leaseMs)
  while (claim.outcome === 'held') {
    onWait?.(claim.voice)
    await sleep(pollMs, signal)
    claim = await ledger.claim(key, leaseMs)
  }
  const { lease } = claim
  let voice = claim.voice
  const keeper = keepLease(() => ledger.heartbeat(lease, leaseMs), leaseMs, signal)
  return {
    get voice() {
      return voice
    },
    signal: keeper.signal,
    advance: async (step) => {
      voice = await ledger.advance(lease, step)
      return voice
    },
    release: async () => {
      keeper.stop()
      await ledger.release(lease)
    },
  }
}
