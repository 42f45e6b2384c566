import type { Database, Statements } from '../database/database.js'

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
export class LimitsLearned {
  readonly #database: Database

  constructor({ database }: { readonly database: Database }) {
    this.#database = database
  }

  /** Stores a limit and keeps only the strictest one for each code and property. */
  async learn(limit: LearnedLimit): Promise<void> {
    await this.#database.transaction(async (tx) => {
      const same = (await knownAt(tx, limit.service)).filter(
        (known) =>
          known.errorCode === limit.errorCode && known.property === limit.property && known.relation === limit.relation,
      )
      if (same.some((known) => limitMatches(known, limit.value))) return
      // The new limit replaces those that it covers.
      for (const known of same) if (limitMatches(limit, known.value)) await unlearn(tx, known)
      await tx.run(
        `INSERT INTO limits_learned (service, error_code, property, relation, value, learned_ms)
         VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
        [...keyOf(limit), tx.nowMs],
      )
    })
  }

  /** Limits for which a similar file was refused before. */
  async matching(service: string, facts: LimitFacts): Promise<LearnedLimit[]> {
    return (await knownAt(this.#database, service)).filter((limit) => limitMatches(limit, facts[limit.property]))
  }

  /** Deletes limits that a file of these facts disproves, because the service accepted it. */
  async unlearn(service: string, facts: LimitFacts): Promise<void> {
    for (const limit of await this.matching(service, facts)) await unlearn(this.#database, limit)
  }
}

async function knownAt(statements: Statements, service: string): Promise<LearnedLimit[]> {
  const rows = await statements.all('SELECT * FROM limits_learned WHERE service = ? ORDER BY learned_ms', [service])
  return rows.map((row) => ({
    service: String(row.service),
    errorCode: Number(row.error_code),
    property: String(row.property),
    relation: row.relation as LimitRelation,
    value: JSON.parse(String(row.value)) as number | string,
  }))
}

async function unlearn(statements: Pick<Statements, 'run'>, limit: LearnedLimit): Promise<void> {
  await statements.run(
    `DELETE FROM limits_learned
     WHERE service = ? AND error_code = ? AND property = ? AND relation = ? AND value = ?`,
    keyOf(limit),
  )
}

function keyOf(limit: LearnedLimit): (string | number)[] {
  return [limit.service, limit.errorCode, limit.property, limit.relation, JSON.stringify(limit.value)]
}

/** True if a file with that value resembles the refused one. */
function limitMatches(limit: LearnedLimit, value: number | string | undefined): boolean {
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
