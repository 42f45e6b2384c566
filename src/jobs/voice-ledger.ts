import type { Voice, VoiceStep } from './voice.js'

/** The right to act on a voice; see `JobLease`. */
export interface VoiceLease {
  readonly key: string
  readonly token: string
  readonly expiresMs: number
}

export type VoiceClaim =
  | { readonly outcome: 'claimed'; readonly voice: Voice; readonly lease: VoiceLease }
  /** Another process that lives works on this very voice: wait for it instead of paying. */
  | { readonly outcome: 'held'; readonly voice: Voice }

/**
 * What was sent to a service and paid for: one row a voice, shared by all jobs and processes. Only the holder of a
 * voice's lease talks to the service about it, and writes each step down around doing it (see `VOICE_STATUSES`).
 */
export interface VoiceLedger {
  /**
   * Claims a voice, new or known, whatever its status: the caller goes on from `voice.status`. Each claim forgets two
   * others at most, those that are at rest (see `isAtRest`) and were not used for longer than voices are kept: so the
   * ledger does not grow for ever, and nobody has to come and sweep it.
   */
  claim(key: string, leaseMs?: number): Promise<VoiceClaim>
  heartbeat(lease: VoiceLease, leaseMs?: number): Promise<VoiceLease>
  /**
   * Writes a step.
   *
   * @throws TransientError `ERR_LEASE_LOST` when the voice is another's by now: do not do what the step announced
   * @throws Error for a move that `VOICE_MOVES` does not have
   */
  advance(lease: VoiceLease, step: VoiceStep): Promise<Voice>
  /** Lets go, at whatever status. A lease that is lost already is no fault. */
  release(lease: VoiceLease): Promise<void>
  get(key: string): Promise<Voice | null>
  getByFileId(fileId: string): Promise<Voice | null>
  /** Forgets what was paid for (`--force`): the next claim begins anew. False while a process that lives has it. */
  forget(key: string): Promise<boolean>
}
