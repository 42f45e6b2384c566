import type { SqliteFile } from '../database/sqlite-file.js'

/** Which files a limit matches: those with as much or more, as much or less, or exactly the same. */
export type LimitRelation = 'at-least' | 'at-most' | 'equal'

/** A property for which a service refused a file, for example `durationSec` of 7300 with -15. */
export interface LearnedLimit {
  /** Identity of the service that refused. */
  readonly service: string
  readonly errorCode: number
  readonly property: string
  readonly relation: LimitRelation
  readonly value: number | string
}

/** Facts about a file, under the same property names. */
export type LimitFacts = Readonly<Record<string, number | string>>

/** Remote refusals and the properties that caused them, so that the next similar file gets a warning. */
export interface LimitsLearned {
  /** Stores a limit and keeps only the strictest one for each code and property. */
  learn(limit: LearnedLimit): Promise<void>
  /** Limits for which a similar file was refused before. */
  matching(service: string, facts: LimitFacts): Promise<LearnedLimit[]>
  /** Deletes limits that a file of these facts disproves, because the service accepted it. */
  unlearn(service: string, facts: LimitFacts): Promise<void>
}

/** {@link LimitsLearned} in SQLite. */
export class SqliteLimitsLearned implements LimitsLearned {
  readonly #database: SqliteFile
  readonly #now: () => number

  constructor({ database, now = Date.now }: { readonly database: SqliteFile; readonly now?: () => number }) {
    this.#database = database
    this.#now = now
  }

  async learn(limit: LearnedLimit): Promise<void> {
    this.#database.transaction(() => {
      const same = this.#known(limit.service).filter(
        (known) =>
          known.errorCode === limit.errorCode && known.property === limit.property && known.relation === limit.relation,
      )
      if (same.some((known) => limitMatches(known, limit.value))) return
      // The new limit replaces those that it covers.
      for (const known of same) if (limitMatches(limit, known.value)) this.#delete(known)
      this.#database.run(
        `INSERT OR IGNORE INTO limits_learned (service, error_code, property, relation, value, learned_ms)
         VALUES (?, ?, ?, ?, ?, ?)`,
        [...keyOf(limit), this.#now()],
      )
    })
  }

  async matching(service: string, facts: LimitFacts): Promise<LearnedLimit[]> {
    return this.#known(service).filter((limit) => limitMatches(limit, facts[limit.property]))
  }

  async unlearn(service: string, facts: LimitFacts): Promise<void> {
    this.#database.transaction(() => {
      for (const limit of this.#known(service)) if (limitMatches(limit, facts[limit.property])) this.#delete(limit)
    })
  }

  #known(service: string): LearnedLimit[] {
    return this.#database
      .all('SELECT * FROM limits_learned WHERE service = ? ORDER BY learned_ms', [service])
      .map((row) => ({
        service: String(row.service),
        errorCode: Number(row.error_code),
        property: String(row.property),
        relation: row.relation as LimitRelation,
        value: JSON.parse(String(row.value)) as number | string,
      }))
  }

  #delete(limit: LearnedLimit): void {
    this.#database.run(
      `DELETE FROM limits_learned
       WHERE service = ? AND error_code = ? AND property = ? AND relation = ? AND value = ?`,
      keyOf(limit),
    )
  }
}

function keyOf(limit: LearnedLimit): (string | number)[] {
  return [limit.service, limit.errorCode, limit.property, limit.relation, JSON.stringify(limit.value)]
}

/** True if a file with that value resembles the refused one. */
export function limitMatches(limit: LearnedLimit, value: number | string | undefined): boolean {
  if (value === undefined || typeof value !== typeof limit.value) return false
  switch (limit.relation) {
    case 'at-least':
      return value >= limit.value
    case 'at-most':
      return value <= limit.value
    case 'equal':
      return value === limit.value
    default:
      return limit.relation satisfies never
  }
}
