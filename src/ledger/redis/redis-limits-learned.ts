import type { Redis } from 'ioredis'
import { type LearnedLimit, type LimitFacts, type LimitsLearned, limitMatches } from '../spending/limits-learned.js'

/**
 * {@link LimitsLearned} on Redis: one hash per service, with a limit as JSON in each field. Learning is not atomic: two
 * machines at the same moment may leave a bound that the other one includes. Both are then reported.
 */
export class RedisLimitsLearned implements LimitsLearned {
  readonly #client: Redis
  readonly #own: string

  constructor({ client, prefix }: { readonly client: Redis; readonly prefix: string }) {
    this.#client = client
    this.#own = `${prefix}:own:`
  }

  async learn(limit: LearnedLimit): Promise<void> {
    const known = await this.#known(limit.service)
    const same = known.filter(
      ({ errorCode, property, relation }) =>
        errorCode === limit.errorCode && property === limit.property && relation === limit.relation,
    )
    if (same.some((other) => limitMatches(other, limit.value))) return
    // The new bound includes these.
    await this.#delete(
      limit.service,
      same.filter((other) => limitMatches(limit, other.value)),
    )
    await this.#client.hset(this.#key(limit.service), fieldOf(limit), Date.now())
  }

  async matching(service: string, facts: LimitFacts): Promise<LearnedLimit[]> {
    return (await this.#known(service)).filter((limit) => limitMatches(limit, facts[limit.property]))
  }

  async unlearn(service: string, facts: LimitFacts): Promise<void> {
    await this.#delete(service, await this.matching(service, facts))
  }

  async #known(service: string): Promise<LearnedLimit[]> {
    const hash = await this.#client.hgetall(this.#key(service))
    const oldestFirst = Object.entries(hash).sort(([, a], [, b]) => Number(a) - Number(b))
    return oldestFirst.map(([field]) => {
      const [errorCode, property, relation, value] = JSON.parse(field)
      return { service, errorCode, property, relation, value }
    })
  }

  async #delete(service: string, limits: readonly LearnedLimit[]): Promise<void> {
    if (limits.length > 0) await this.#client.hdel(this.#key(service), ...limits.map(fieldOf))
  }

  #key(service: string): string {
    return `${this.#own}limits:${service}`
  }
}

function fieldOf({ errorCode, property, relation, value }: LearnedLimit): string {
  return JSON.stringify([errorCode, property, relation, value])
}
