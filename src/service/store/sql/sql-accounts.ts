import { randomUUID } from 'node:crypto'
import type { Database, Row, Statements } from '../../../ledger/index.js'
import {
  type Accounts,
  accountExists,
  accountUnknown,
  creditsMs,
  outsideName,
  type ServiceUser,
  type Usage,
} from '../accounts.js'

/** {@link Accounts} in SQL. */
export class SqlAccounts implements Accounts {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  async create(name: string): Promise<ServiceUser> {
    const userId = randomUUID()
    const user = await this.#add(userId, name, null)
    if (user?.id !== userId) throw accountExists(name)
    return user
  }

  async ensure(name: string): Promise<ServiceUser> {
    const user = (await this.#byName(name)) ?? (await this.#add(randomUUID(), name, null))
    if (!user) throw accountUnknown(name)
    return user
  }

  async ensureSubject(subject: string): Promise<ServiceUser> {
    const row = await this.#database.get('SELECT * FROM user WHERE subject = ?', [subject])
    const user = toUser(row) ?? (await this.#add(randomUUID(), outsideName(subject), subject))
    if (!user) throw accountExists(outsideName(subject))
    return user
  }

  async named(name: string): Promise<ServiceUser> {
    const user = await this.#byName(name)
    if (user) return user
    throw accountUnknown(name)
  }

  async byId(userId: string): Promise<ServiceUser | undefined> {
    return toUser(await this.#database.get('SELECT * FROM user WHERE id = ?', [userId]))
  }

  async list(): Promise<ServiceUser[]> {
    return (await this.#database.all('SELECT * FROM user ORDER BY created_ms, name')).flatMap(
      (row) => toUser(row) ?? [],
    )
  }

  async setCredits(userId: string, creditsSec: number | null): Promise<void> {
    await this.#database.run('UPDATE user SET credits_ms = ? WHERE id = ?', [creditsMs(creditsSec), userId])
  }

  async usage(userId: string, sinceMs: number): Promise<Usage> {
    const row = await this.#database.get(
      `SELECT COUNT(*) AS files, SUM(CASE WHEN error_code <> 0 THEN 1 ELSE 0 END) AS failed, SUM(charged_ms) AS charged
       FROM file WHERE user_id = ? AND created_ms >= ?`,
      [userId, sinceMs],
    )
    const { files = 0, failed = 0, charged = 0 } = row ?? {}
    return { files: Number(files), failed: Number(failed), chargedSec: Number(charged) / 1000 }
  }

  async #byName(name: string, statements: Statements = this.#database): Promise<ServiceUser | undefined> {
    const sql = 'SELECT u.* FROM user AS u JOIN account AS a ON a.id = u.account_id WHERE a.name = ?'
    return toUser(await statements.get(sql, [name]))
  }

  /** @returns the user of that name, new or not */
  #add(userId: string, name: string, subject: string | null): Promise<ServiceUser | undefined> {
    const accountId = randomUUID()
    return this.#database.transaction(async (tx) => {
      const account = 'INSERT INTO account (id, name, created_ms) VALUES (?, ?, ?) ON CONFLICT (name) DO NOTHING'
      const user = 'INSERT INTO user (id, account_id, name, subject, created_ms) VALUES (?, ?, ?, ?, ?)'
      if ((await tx.run(account, [accountId, name, tx.nowMs])).changes === 1)
        await tx.run(user, [userId, accountId, name, subject, tx.nowMs])
      return this.#byName(name, tx)
    })
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
