import { DAY_MS } from '../../core/time.js'

/**
 * Progress of a voice at the service. A status is written *before* the step it names (`registering`, `starting`), or
 * after it has certainly happened (all others). After a crash it shows how to continue:
 *
 * - `new`, `registering`: nothing is charged; register (again).
 * - `registered`, `uploaded`: the file id is not started; continue, or register again if its link expired.
 * - `starting`: it may be charged. Check the status of the same file id first; start that id only if it has not begun.
 * - `started`: wait for it. `succeeded`: download the output (again). `cached`: take it from the cache.
 * - `failed`: ended with `errorCode`; check the status of the same file id before a new attempt.
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

/** `errorCode` of an attempt that the service reports as a success, but whose audio is unusable or deleted. */
export const USELESS_AUDIO = 0

/** Default time for which an unused voice at rest is remembered: 90 days. */
export const KEEP_VOICES_MS = 90 * DAY_MS

/** One file id and its result. */
export interface VoiceAttempt {
  readonly fileId: string | null
  readonly status: Exclude<VoiceStatus, 'new'>
  readonly errorCode: number | null
  /** Charged seconds; 0 until it is known to have started. */
  readonly paidSec: number
  readonly endedMs: number | null
}

/** A voice that is sent to the service, identified by the hash of samples, options and service identity. */
export interface Voice {
  readonly key: string
  readonly status: VoiceStatus
  /** File id of the latest attempt. */
  readonly fileId: string | null
  /** Code of a failure, else null. */
  readonly errorCode: number | null
  /** Charged seconds over all attempts. */
  readonly paidSec: number
  /** Oldest first. */
  readonly attempts: readonly VoiceAttempt[]
}

/** A step of a voice, with the facts that it adds. */
export type VoiceStep =
  /** Opens a new attempt. */
  | { readonly status: 'registering' }
  | { readonly status: 'registered'; readonly fileId: string }
  | { readonly status: 'uploaded' }
  /** The intent to start, with the seconds that will be charged. */
  | { readonly status: 'starting'; readonly paidSec: number }
  | { readonly status: 'started' }
  | { readonly status: 'succeeded' }
  /** `isPaid` is false if the service certainly charges nothing for it. */
  | { readonly status: 'failed'; readonly errorCode: number; readonly isPaid?: false | undefined }
  | { readonly status: 'cached' }

/** All allowed moves. Any other is a defect of the caller. */
export const VOICE_MOVES: { readonly [S in VoiceStatus]: readonly VoiceStep['status'][] } = {
  new: ['registering'],
  registering: ['registering', 'registered', 'failed'],
  // Straight to `starting` if the service downloads the bytes itself.
  registered: ['registering', 'uploaded', 'starting', 'failed'],
  uploaded: ['registering', 'starting', 'failed'],
  // Back to `uploaded` or `registering` only after the service reported that the file id has not started.
  starting: ['registering', 'uploaded', 'started', 'succeeded', 'failed'],
  started: ['succeeded', 'failed'],
  succeeded: ['cached', 'failed'],
  // The service may have the output of a file that was given up after all.
  failed: ['registering', 'started', 'succeeded'],
  // The cache lost it: the output is downloaded again from the same file id.
  cached: ['succeeded'],
}
