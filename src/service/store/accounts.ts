import { randomUUID } from 'node:crypto'
import { UsageError } from '../../core/errors.js'
import type { Database, Row, Statements } from '../../ledger/index.js'

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

function outsideName(subject: string): string {
  return `outside ${subject}`
}

function accountExists(name: string): UsageError {
  return new UsageError('ERR_ACCOUNT_EXISTS', `An account named ${name} already exists.`)
}

function accountUnknown(name: string): UsageError {
  return new UsageError('ERR_ACCOUNT_UNKNOWN', `The account ${name} does not exist.`, {
    remedies: [`Create it: voxmux portal account create --name ${name}`],
  })
}

/** Credits in whole milliseconds, because sums of binary fractions are not exact. @throws {UsageError} `ERR_USAGE` */
function creditsMs(creditsSec: number | null): number | null {
  if (creditsSec === null) return null
  const ms = Math.round(creditsSec * 1000)
  if (ms >= 0 && Number.isSafeInteger(ms)) return ms
  throw new UsageError('ERR_USAGE', `Credits of ${creditsSec} s are negative or too large.`, {
    remedies: ['Use 0 or more seconds, or "unlimited".'],
  })
}

/** Accounts and their users. */
export class Accounts {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  /** @throws {UsageError} `ERR_ACCOUNT_EXISTS` */
  async create(name: string): Promise<ServiceUser> {
    const userId = randomUUID()
    const user = await this.#add(userId, name, null)
    if (user?.id !== userId) throw accountExists(name)
    return user
  }

  /** Returns the account of that name. Creates it if it does not exist. */
  async ensure(name: string): Promise<ServiceUser> {
    const user = (await this.#byName(name)) ?? (await this.#add(randomUUID(), name, null))
    if (!user) throw accountUnknown(name)
    return user
  }

  /** Returns the user of a subject of an external identity provider. Creates it at the first request. */
  async ensureSubject(subject: string): Promise<ServiceUser> {
    const row = await this.#database.get('SELECT * FROM user WHERE subject = ?', [subject])
    const user = toUser(row) ?? (await this.#add(randomUUID(), outsideName(subject), subject))
    if (!user) throw accountExists(outsideName(subject))
    return user
  }

  /** @throws {UsageError} `ERR_ACCOUNT_UNKNOWN` */
  async named(name: string): Promise<ServiceUser> {
    const user = await this.#byName(name)
    if (user) return user
    throw accountUnknown(name)
  }

  async byId(userId: string): Promise<ServiceUser | undefined> {
    return toUser(await this.#database.get('SELECT * FROM user WHERE id = ?', [userId]))
  }

  /** Oldest first. */
  async list(): Promise<ServiceUser[]> {
    return (await this.#database.all('SELECT * FROM user ORDER BY created_ms, name')).flatMap(
      (row) => toUser(row) ?? [],
    )
  }

  /** Sets the credits in seconds; null: unlimited. @throws {UsageError} `ERR_USAGE` if negative or too large */
  async setCredits(userId: string, creditsSec: number | null): Promise<void> {
    await this.#database.run('UPDATE user SET credits_ms = ? WHERE id = ?', [creditsMs(creditsSec), userId])
  }

  /**
   * Counts the files, the failed ones and the charged seconds of a user. Deleted records do not count.
   *
   * @param sinceMs time of registration of the first file, in Unix milliseconds
   */
  async usage(userId: string, sinceMs: number) {
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
