import { randomUUID } from 'node:crypto'
import type { Row, SqliteFile } from '../../../ledger/index.js'
import { type Accounts, accountExists, accountUnknown, creditsMs, outsideName, type ServiceUser } from '../accounts.js'
import type { SqliteContext } from './sqlite-context.js'

/** {@link Accounts} in SQLite. */
export class SqliteAccounts implements Accounts {
  readonly #database: SqliteFile
  readonly #now: () => number

  constructor({ database, now }: SqliteContext) {
    this.#database = database
    this.#now = now
  }

  async create(name: string): Promise<ServiceUser> {
    return this.#database.transaction(() => {
      if (this.#byName(name)) throw accountExists(name)
      return this.#insert(name, null)
    })
  }

  async ensure(name: string): Promise<ServiceUser> {
    return this.#byName(name) ?? this.#database.transaction(() => this.#byName(name) ?? this.#insert(name, null))
  }

  async ensureSubject(subject: string): Promise<ServiceUser> {
    const find = () => toUser(this.#database.get('SELECT * FROM user WHERE subject = ?', [subject]))
    return find() ?? this.#database.transaction(() => find() ?? this.#insert(outsideName(subject), subject))
  }

  async named(name: string): Promise<ServiceUser> {
    const user = this.#byName(name)
    if (user) return user
    throw accountUnknown(name)
  }

  async byId(userId: string): Promise<ServiceUser | undefined> {
    return toUser(this.#database.get('SELECT * FROM user WHERE id = ?', [userId]))
  }

  async list(): Promise<ServiceUser[]> {
    return this.#database.all('SELECT * FROM user ORDER BY created_ms, name').flatMap((row) => toUser(row) ?? [])
  }

  async setCredits(userId: string, creditsSec: number | null): Promise<void> {
    this.#database.run('UPDATE user SET credits_ms = ? WHERE id = ?', [creditsMs(creditsSec), userId])
  }

  #byName(name: string): ServiceUser | undefined {
    const sql = 'SELECT user.* FROM user JOIN account ON account.id = account_id WHERE account.name = ?'
    return toUser(this.#database.get(sql, [name]))
  }

  #insert(name: string, subject: string | null): ServiceUser {
    const [accountId, userId, now] = [randomUUID(), randomUUID(), this.#now()]
    this.#database.run('INSERT INTO account (id, name, created_ms) VALUES (?, ?, ?)', [accountId, name, now])
    this.#database.run('INSERT INTO user (id, account_id, name, subject, created_ms) VALUES (?, ?, ?, ?, ?)', [
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
    creditsSec: row.credits_ms === null ? null : Number(row.credits_ms) / 1000,
  }
}
