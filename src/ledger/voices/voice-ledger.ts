import type { Voice, VoiceStep } from './voice.js'

/** The right to act on a voice; see `JobLease`. */
export interface VoiceLease {
  readonly key: string
  readonly token: string
  readonly expiresMs: number
}

export type VoiceClaim =
  | { readonly outcome: 'claimed'; readonly voice: Voice; readonly lease: VoiceLease }
  /** Another live process holds this voice: wait for it instead of paying. */
  | { readonly outcome: 'held'; readonly voice: Voice }

/**
 * Voices that were sent to a service and paid for: one row per voice, shared by all jobs and processes. Only the holder
 * of a voice's lease calls the service for it, and it records each step (see `VOICE_STATUSES`).
 */
export interface VoiceLedger {
  /**
   * Claims a voice, new or known, with any status: the caller continues from `voice.status`. Each claim deletes up to
   * two unused voices, so the ledger stays bounded without a sweep. It keeps a voice that may be charged, and one whose
   * paid output waits for its download.
   */
  claim(key: string, leaseMs?: number): Promise<VoiceClaim>
  heartbeat(lease: VoiceLease, leaseMs?: number): Promise<VoiceLease>
  /**
   * Records a step.
   *
   * @throws {TransientError} `ERR_LEASE_LOST` if another process holds the voice: do not execute the announced step
   * @throws {Error} for a move that is not in `VOICE_MOVES`
   */
  advance(lease: VoiceLease, step: VoiceStep): Promise<Voice>
  /** Releases the voice in any status. Ignores a lost lease. */
  release(lease: VoiceLease): Promise<void>
  get(key: string): Promise<Voice | null>
  getByFileId(fileId: string): Promise<Voice | null>
  /**
   * Forgets a paid voice (`--force`), so that the next claim starts again. Returns false while a live process holds it.
   */
  forget(key: string): Promise<boolean>
}
