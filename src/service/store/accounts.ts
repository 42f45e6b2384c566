import { UsageError } from '../../core/errors.js'

/** Somebody for whom files are processed. An account has one user; keys and files belong to the user. */
export interface ServiceUser {
  readonly id: string
  readonly accountId: string
  readonly name: string
  /** Seconds of audio that may still be processed; null: unlimited. */
  readonly creditsSec: number | null
}

/** Name of the account that the embedded service and `portal` use when none is named. */
export const LOCAL_ACCOUNT = 'local'

/** Accounts and their users. */
export interface Accounts {
  /** @throws UsageError `ERR_ACCOUNT_EXISTS` */
  create(name: string): Promise<ServiceUser>
  /** The account of that name, made when it is not there. */
  ensure(name: string): Promise<ServiceUser>
  /** The user behind the subject of an outside identity provider's token, made at first sight. */
  ensureSubject(subject: string): Promise<ServiceUser>
  /** @throws UsageError `ERR_ACCOUNT_UNKNOWN` */
  named(name: string): Promise<ServiceUser>
  byId(userId: string): Promise<ServiceUser | undefined>
  /** Oldest first. */
  list(): Promise<ServiceUser[]>
  /** Sets what may still be processed, in seconds of audio; null: unlimited. */
  setCredits(userId: string, creditsSec: number | null): Promise<void>
}

/** The name of the account of an outside subject. */
export function outsideName(subject: string): string {
  return `outside ${subject}`
}

/** An account of that name is there already. */
export function accountExists(name: string): UsageError {
  return new UsageError('ERR_ACCOUNT_EXISTS', `There is an account named ${name} already.`)
}

/** There is no account of that name. */
export function accountUnknown(name: string): UsageError {
  return new UsageError('ERR_ACCOUNT_UNKNOWN', `There is no account named ${name}.`, {
    remedies: [`Create it: voxmux portal account create --name ${name}`],
  })
}
