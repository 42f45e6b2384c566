import { leaseLost } from '../leases/leases.js'
import type { BullQueue } from './bull-recorder.js'
import { JOB_SCRIPTS } from './job-scripts.js'
import type { RedisStoreContext } from './redis-store-context.js'

/** A group's queue in BullMQ, and the number that the ids of its jobs end in. */
export interface GroupQueue {
  readonly number: string
  readonly queue: BullQueue
}

/** BullMQ's queue of each group, looked up once per process. */
export class GroupQueues {
  readonly #context: RedisStoreContext
  readonly #groupsKey: string
  readonly #opened = new Map<string, Promise<GroupQueue>>()
  readonly #names = new Map<string, string>()

  constructor(context: RedisStoreContext) {
    this.#context = context
    this.#groupsKey = `${context.prefix}:own:groups`
  }

  of(group: string): Promise<GroupQueue> {
    const known = this.#opened.get(group)
    if (known) return known
    const opening = this.#open(group)
    this.#opened.set(group, opening)
    opening.catch(() => this.#opened.delete(group))
    return opening
  }

  /**
   * The queue of a job, which its id names.
   *
   * @throws TransientError `ERR_LEASE_LOST` if the store has no such group
   */
  async ofJob(id: string): Promise<BullQueue> {
    const number = /-(\d+)$/.exec(id)?.[1]
    const group = number === undefined ? null : await this.#named(number)
    if (group === null) throw leaseLost('a job that was forgotten')
    return (await this.of(group)).queue
  }

  async #open(group: string): Promise<GroupQueue> {
    const { bull, scripts } = this.#context
    // BullMQ forbids colons in the name of a queue. Its own tools show the name.
    const name = `group-${encodeURIComponent(group)}`
    const number = String(await scripts.run('group', JOB_SCRIPTS.group, [group, name]))
    return { number, queue: bull.queue(name) }
  }

  async #named(number: string): Promise<string | null> {
    const known = this.#names.get(number)
    if (known !== undefined) return known
    const name = await this.#context.client.hget(this.#groupsKey, number)
    if (name !== null) this.#names.set(number, name)
    return name
  }
}
