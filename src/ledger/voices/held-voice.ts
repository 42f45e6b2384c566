import { throwIfAborted } from '../../core/abort.js'
import { sleep } from '../../core/time.js'
import { DEFAULT_LEASE_MS } from '../jobs/job-store.js'
import { keepLease } from '../leases/lease-keeper.js'
import type { Voice, VoiceStep } from './voice.js'
import type { VoiceLedger } from './voice-ledger.js'

/** A claimed voice. Its lease is renewed automatically until it is released. */
export interface HeldVoice {
  /** As last written. */
  readonly voice: Voice
  /** Aborts when the lease is lost, or when the caller aborts. */
  readonly signal: AbortSignal
  /**
   * Renews the lease before a step that only its holder may take.
   *
   * @throws {TransientError} `ERR_LEASE_LOST`, and the fault of a store that cannot be reached
   */
  confirm(): Promise<void>
  /** Records a step; see `VoiceLedger.advance`. */
  advance(step: VoiceStep): Promise<Voice>
  /** Releases the voice, so that another process may continue. */
  release(): Promise<void>
}

interface HoldVoiceOptions {
  readonly signal?: AbortSignal | undefined
  /** Called each time another process holds the voice. If it throws, the wait ends. */
  readonly onWait?: (voice: Voice) => void
  /** Poll interval during that wait; default 500. */
  readonly pollMs?: number
  readonly leaseMs?: number
}

/** Claims a voice. Waits while another process holds it, and then usually finds it `cached` and pays nothing. */
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
    confirm: async () => {
      await keeper.confirm()
      throwIfAborted(keeper.signal)
    },
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
