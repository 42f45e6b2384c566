import { randomUUID } from 'node:crypto'
import { UsageError } from '../../core/errors.js'
import type { Database, Row } from '../../jobs/index.js'

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
export class Accounts {
  constructor(private readonly database: Database) {}

  /** @throws UsageError `ERR_ACCOUNT_EXISTS` */
  create(name: string): ServiceUser {
    return this.database.transaction(() => {
      if (this.byName(name)) throw new UsageError('ERR_ACCOUNT_EXISTS', `There is an account named ${name} already.`)
      return this.insert(name, null)
    })
  }

  /** The account of that name, made when it is not there. */
  ensure(name: string): ServiceUser {
    return this.database.transaction(() => this.byName(name) ?? this.insert(name, null))
  }

  /** The user behind the subject of an outside identity provider's token, made at first sight. */
  ensureSubject(subject: string): ServiceUser {
    const find = () => toUser(this.database.get('SELECT * FROM user WHERE subject = ?', [subject]))
    return find() ?? this.database.transaction(() => find() ?? this.insert(`outside ${subject}`, subject))
  }

  /** @throws UsageError `ERR_ACCOUNT_UNKNOWN` */
  named(name: string): ServiceUser {
    const user = this.byName(name)
    if (user) return user
    throw new UsageError('ERR_ACCOUNT_UNKNOWN', `There is no account named ${name}.`, {
      remedies: [`Create it: voxmux portal account create --name ${name}`],
    })
  }

  byId(userId: string): ServiceUser | undefined {
    return toUser(this.database.get('SELECT * FROM user WHERE id = ?', [userId]))
  }

  list(): ServiceUser[] {
    return this.database.all('SELECT * FROM user ORDER BY created_ms, name').flatMap((row) => toUser(row) ?? [])
  }

  /** Sets what may still be processed, in seconds of audio; null: unlimited. */
  setCredits(userId: string, creditsSec: number | null): void {
    this.database.run('UPDATE user SET credits_sec = ? WHERE id = ?', [creditsSec, userId])
  }

  private byName(name: string): ServiceUser | undefined {
    return toUser(
      this.database.get('SELECT user.* FROM user JOIN account ON account.id = account_id WHERE account.name = ?', [
        name,
      ]),
    )
  }

  private insert(name: string, subject: string | null): ServiceUser {
    const [accountId, userId, now] = [randomUUID(), randomUUID(), Date.now()]
    this.database.run('INSERT INTO account (id, name, created_ms) VALUES (?, ?, ?)', [accountId, name, now])
    this.database.run('INSERT INTO user (id, account_id, name, subject, created_ms) VALUES (?, ?, ?, ?, ?)', [
      userId,
      accountId,
      name,
      subject,
      now,
    ])
    return { id: userId, accountId, name, creditsSec: null }
  }
}

function toUser(row: Row | undefined): ServiceUser | undefined {
  if (!row) return undefined
  return {
    id: String(row.id),
    accountId: String(row.account_id),
    name: String(row.name),
    creditsSec: row.credits_sec === null ? null : Number(row.credits_sec),
  }
}
