/**
 * How far a voice is at the service. Each name is written *before* the step it names (`registering`, `starting`) or
 * after it is known to have happened (all others), so that after a crash one knows what to ask:
 *
 * - `new`, `registering`: nothing is charged; register (again).
 * - `registered`, `uploaded`: the file id is not started; go on, or register again where its link ran out.
 * - `starting`: it may be charged. Ask the status of the same file id first; start that same id only if it has not begun.
 * - `started`: wait for it. `succeeded`: fetch the output (again). `cached`: take it from the cache.
 * - `failed`: ended with `errorCode`; a new attempt is the caller's decision.
 */
export const VOICE_STATUSES = [
  'new',
  'registering',
  'registered',
  'uploaded',
  'starting',
  'started',
  'succeeded',
  'failed',
  'cached',
] as const
export type VoiceStatus = (typeof VOICE_STATUSES)[number]

/** True where nothing is under way that may be charged for, or has been paid for and is yet to be fetched. */
export function isAtRest(status: VoiceStatus): boolean {
  return status !== 'starting' && status !== 'started' && status !== 'succeeded'
}

/** How long a voice that is at rest is remembered after its last use, where nobody says otherwise: 90 days. */
export const KEEP_VOICES_MS = 90 * 24 * 3600 * 1000

/** One file id and what became of it. */
export interface VoiceAttempt {
  /** From 1. */
  readonly attempt: number
  readonly fileId: string | null
  readonly status: Exclude<VoiceStatus, 'new'>
  readonly errorCode: number | null
  /** Seconds charged for it; 0 before it is known to have started. */
  readonly paidSec: number
  readonly startedMs: number
  readonly endedMs: number | null
}

/** A voice: what is sent to the service, known by the hash of samples, options and service identity. */
export interface Voice {
  readonly key: string
  readonly status: VoiceStatus
  /** Of the latest attempt. */
  readonly fileId: string | null
  /** Of a failure, else null. */
  readonly errorCode: number | null
  /** Where the cache had it, once it was cached. */
  readonly cachePath: string | null
  /** Seconds charged over all attempts. */
  readonly paidSec: number
  /** Oldest first. */
  readonly attempts: readonly VoiceAttempt[]
  readonly createdMs: number
  readonly updatedMs: number
}

/** A move of a voice, and what is learned with it. */
export type VoiceStep =
  /** Opens a new attempt. */
  | { readonly status: 'registering' }
  | { readonly status: 'registered'; readonly fileId: string }
  | { readonly status: 'uploaded' }
  /** The intent, with the seconds that the start will be charged for. */
  | { readonly status: 'starting'; readonly paidSec: number }
  | { readonly status: 'started' }
  | { readonly status: 'succeeded' }
  | { readonly status: 'failed'; readonly errorCode: number }
  | { readonly status: 'cached'; readonly path: string }

/** The moves that there are; anything else is a defect of the caller. */
export const VOICE_MOVES: { readonly [S in VoiceStatus]: readonly VoiceStep['status'][] } = {
  new: ['registering'],
  registering: ['registering', 'registered', 'failed'],
  // Straight to `starting` where the service fetches the bytes itself.
  registered: ['registering', 'uploaded', 'starting', 'failed'],
  uploaded: ['registering', 'starting', 'failed'],
  // Back to `uploaded` or `registering` only once the service said that the file id has not started.
  starting: ['registering', 'uploaded', 'started', 'succeeded', 'failed'],
  started: ['succeeded', 'failed'],
  succeeded: ['cached', 'failed'],
  failed: ['registering'],
  // The cache lost it: the output is fetched again from the same file id.
  cached: ['succeeded'],
}
