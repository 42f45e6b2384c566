import { randomUUID } from 'node:crypto'
import { isEnded } from '../jobs/job.js'
import { type ClaimedJob, type ClaimOptions, type ClaimOutcome, DEFAULT_LEASE_MS } from '../jobs/job-store.js'
import { ANY_QUEUE, type BullCall, type BullQueue } from './bull-recorder.js'
import { DeadHolders } from './dead-holders.js'
import { JOB_CLAIM_SCRIPTS } from './job-claim-scripts.js'
import { jobIn } from './job-record.js'
import type { RedisScripts } from './redis-scripts.js'
import type { RedisStoreContext } from './redis-store-context.js'

/** The claims of a {@link RedisJobStore}. */
export class RedisJobClaims {
  readonly #scripts: RedisScripts
  readonly #holder: string
  readonly #anyQueue: BullQueue
  readonly #dead: DeadHolders
  /** Tokens of claims whose answer was lost, by the kind of claim. */
  readonly #unanswered = new Map<string, string>()

  constructor({ client, bull, scripts, prefix, holder }: RedisStoreContext) {
    this.#scripts = scripts
    this.#holder = JSON.stringify(holder)
    this.#anyQueue = bull.queue(ANY_QUEUE)
    this.#dead = new DeadHolders(scripts, () => client.hgetall(`${prefix}:own:holders`), JOB_CLAIM_SCRIPTS.freeDead)
  }

  async claim(key: string, { leaseMs = DEFAULT_LEASE_MS }: Pick<ClaimOptions, 'leaseMs'>): Promise<ClaimOutcome> {
    return this.#claiming(`job ${key}`, async (token) => {
      const claim = () => this.#run('claim', [key, token, this.#holder, leaseMs])
      let answer = await claim()
      if (answer[0] === 'held' && (await this.#dead.free())) answer = await claim()
      if (answer[0] === 'unknown') return { outcome: 'unknown' }
      if (answer[0] === 'claimed') return { outcome: 'claimed', ...leased(answer, token, leaseMs) }
      const job = jobIn(answer[2])
      return { outcome: isEnded(job.status) ? 'ended' : 'held', job }
    })
  }

  async next({ leaseMs = DEFAULT_LEASE_MS, groups, exceptGroups = [] }: ClaimOptions): Promise<ClaimedJob | null> {
    return this.#claiming(`next ${JSON.stringify(groups)}`, async (token) => {
      const call = await this.#anyQueue.activate(token, this.#holder)
      const chosen = [groups?.length ?? '', ...(groups ?? []), ...exceptGroups]
      const claim = () => this.#run('claimNext', [token, this.#holder, leaseMs, ...chosen], call)
      let answer = await claim()
      if (answer[0] === 'none' && (await this.#dead.free())) answer = await claim()
      return answer[0] === 'none' ? null : leased(answer, token, leaseMs)
    })
  }

  /**
   * Reuses the token of a claim whose answer was lost. Redis may have granted that claim, or grant it when it is back. The
   * next claim of the same kind then gets that job.
   */
  async #claiming<T>(what: string, claim: (token: string) => Promise<T>): Promise<T> {
    const token = this.#unanswered.get(what) ?? randomUUID()
    this.#unanswered.delete(what)
    try {
      return await claim(token)
    } catch (error) {
      this.#unanswered.set(what, token)
      throw error
    }
  }

  async #run(name: 'claim' | 'claimNext', own: readonly (string | number)[], call?: BullCall): Promise<unknown[]> {
    return (await this.#scripts.run(name, JOB_CLAIM_SCRIPTS[name], own, call)) as unknown[]
  }
}

function leased(answer: readonly unknown[], token: string, leaseMs: number): ClaimedJob {
  const job = jobIn(answer[2])
  return { job, lease: { jobId: job.id, token, expiresMs: Number(answer[1]) + leaseMs } }
}
