import { UsageError } from '../../core/errors.js'

/** A user for whom files are processed. An account has one user; keys and files belong to the user. */
export interface ServiceUser {
  readonly id: string
  readonly accountId: string
  readonly name: string
  /** Remaining seconds of sound that may be processed, in whole milliseconds; null: unlimited. */
  readonly creditsSec: number | null
}

/** Name of the default account of the embedded service and of `portal`. */
export const LOCAL_ACCOUNT = 'local'

/** Files and sound of a user since a time. Deleted records do not count. */
export interface Usage {
  readonly files: number
  readonly failed: number
  /** Seconds of sound that were charged. */
  readonly chargedSec: number
}

/** Accounts and their users. */
export interface Accounts {
  /** @throws {UsageError} `ERR_ACCOUNT_EXISTS` */
  create(name: string): Promise<ServiceUser>
  /** Returns the account of that name. Creates it if it does not exist. */
  ensure(name: string): Promise<ServiceUser>
  /** Returns the user of a subject of an external identity provider. Creates it at the first request. */
  ensureSubject(subject: string): Promise<ServiceUser>
  /** @throws {UsageError} `ERR_ACCOUNT_UNKNOWN` */
  named(name: string): Promise<ServiceUser>
  byId(userId: string): Promise<ServiceUser | undefined>
  /** Oldest first. */
  list(): Promise<ServiceUser[]>
  /**
   * Sets the remaining credits in seconds of sound; null: unlimited.
   *
   * @throws {UsageError} `ERR_USAGE` for a number that is negative or too large
   */
  setCredits(userId: string, creditsSec: number | null): Promise<void>
  /** @param sinceMs time of registration of the first file, in Unix milliseconds */
  usage(userId: string, sinceMs: number): Promise<Usage>
}

/** The account name of an external subject. */
export function outsideName(subject: string): string {
  return `outside ${subject}`
}

/** Creates the error for an account name that is already in use. */
export function accountExists(name: string): UsageError {
  return new UsageError('ERR_ACCOUNT_EXISTS', `An account named ${name} already exists.`)
}

/** Creates the error for an unknown account name. */
export function accountUnknown(name: string): UsageError {
  return new UsageError('ERR_ACCOUNT_UNKNOWN', `The account ${name} does not exist.`, {
    remedies: [`Create it: voxmux portal account create --name ${name}`],
  })
}

/**
 * Converts credits to whole milliseconds, the unit of the stores. Sums of binary fractions are not exact.
 *
 * @throws {UsageError} `ERR_USAGE`
 */
export function creditsMs(creditsSec: number | null): number | null {
  if (creditsSec === null) return null
  const ms = Math.round(creditsSec * 1000)
  if (ms >= 0 && Number.isSafeInteger(ms)) return ms
  throw new UsageError('ERR_USAGE', `Credits of ${creditsSec} s are negative or too large.`, {
    remedies: ['Use 0 or more seconds, or "unlimited".'],
  })
}
