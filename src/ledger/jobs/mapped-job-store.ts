import { readdir } from 'node:fs/promises'
import type { Logger } from '../../core/logger.js'
import type { Job, JobRequest } from './job.js'
import type {
  ClaimedJob,
  ClaimOptions,
  ClaimOutcome,
  ExpediteFilter,
  JobCount,
  JobFilter,
  JobStore,
  JobWatch,
  Pause,
} from './job-store.js'
import { mapTexts, type PathRoots, rootOf } from './path-roots.js'

/** Time for which a worker skips a group after a folder of it was missing. */
const LACKING_MS = 30_000

/**
 * A store that maps paths: it converts this machine's paths to the store's on writing, and back on reading. A job in a
 * folder that this machine lacks is left to other workers, as if it had not been claimed.
 */
export class MappedJobStore implements JobStore {
  readonly #store: JobStore
  readonly #roots: PathRoots
  readonly #logger: Logger
  readonly #now: () => number
  /** Skipped groups of the store, with the end time. */
  readonly #lacking = new Map<string, number>()
  readonly #said = new Set<string>()

  constructor(store: JobStore, roots: PathRoots, { logger, now = Date.now }: { logger: Logger; now?: () => number }) {
    this.#store = store
    this.#roots = roots
    this.#logger = logger
    this.#now = now
  }

  async enqueue(request: JobRequest) {
    const answer = await this.#store.enqueue(this.#stored(request))
    return { ...answer, job: this.#here(answer.job) }
  }

  enqueueAll(requests: readonly JobRequest[]): Promise<number> {
    return this.#store.enqueueAll(requests.map((request) => this.#stored(request)))
  }

  async claim(...args: Parameters<JobStore['claim']>): Promise<ClaimOutcome> {
    const claim = await this.#store.claim(...args)
    return claim.outcome === 'unknown' ? claim : { ...claim, job: this.#here(claim.job) }
  }

  async claimNext(options: ClaimOptions = {}): Promise<ClaimedJob | null> {
    for (;;) {
      const claimed = await this.#store.claimNext({
        ...options,
        ...(options.groups && { groups: options.groups.map((group) => this.#roots.toStore(group)) }),
        exceptGroups: [...(options.exceptGroups ?? []), ...this.#leftAlone()],
      })
      if (claimed === null) return null
      const name = await this.#lackedBy(claimed.job)
      if (name === null) return { ...claimed, job: this.#here(claimed.job) }
      await this.#store.putBack(claimed)
      this.#lacking.set(claimed.job.group, this.#now() + LACKING_MS)
      this.#logOnce(name)
    }
  }

  heartbeat(...args: Parameters<JobStore['heartbeat']>) {
    return this.#store.heartbeat(...args)
  }

  async checkpoint(...[lease, checkpoint]: Parameters<JobStore['checkpoint']>): Promise<Job> {
    return this.#here(await this.#store.checkpoint(lease, this.#stored(checkpoint)))
  }

  async takeOutput(...[lease, path]: Parameters<JobStore['takeOutput']>): Promise<string | null> {
    const input = await this.#store.takeOutput(lease, this.#roots.toStore(path))
    return input === null ? null : this.#roots.toHere(input)
  }

  async complete(...[lease, end]: Parameters<JobStore['complete']>): Promise<Job> {
    return this.#here(await this.#store.complete(lease, this.#stored(end)))
  }

  async fail(...args: Parameters<JobStore['fail']>): Promise<Job> {
    return this.#here(await this.#store.fail(...args))
  }

  async retryAt(...args: Parameters<JobStore['retryAt']>): Promise<Job> {
    return this.#here(await this.#store.retryAt(...args))
  }

  async release(...args: Parameters<JobStore['release']>): Promise<Job> {
    return this.#here(await this.#store.release(...args))
  }

  putBack(claimed: ClaimedJob): Promise<void> {
    return this.#store.putBack(claimed)
  }

  async get(id: string): Promise<Job | null> {
    return this.#hereOrNull(await this.#store.get(id))
  }

  async getByKey(key: string): Promise<Job | null> {
    return this.#hereOrNull(await this.#store.getByKey(key))
  }

  async list(filter: JobFilter = {}): Promise<Job[]> {
    return (await this.#store.list(this.#stored(filter))).map((job) => this.#here(job))
  }

  async counts(): Promise<JobCount[]> {
    return (await this.#store.counts()).map((count) => ({ ...count, group: this.#roots.toHere(count.group) }))
  }

  async setPriority(id: string, priority: number): Promise<Job | null> {
    return this.#hereOrNull(await this.#store.setPriority(id, priority))
  }

  async requeue(id: string): Promise<Job | null> {
    return this.#hereOrNull(await this.#store.requeue(id))
  }

  async cancel(...args: Parameters<JobStore['cancel']>): Promise<Job | null> {
    return this.#hereOrNull(await this.#store.cancel(...args))
  }

  expedite(filter: ExpediteFilter): Promise<number> {
    const groups = filter.groups?.map((group) => this.#roots.toStore(group))
    return this.#store.expedite({ ...filter, ...(groups && { groups }) })
  }

  forget(id: string): Promise<boolean> {
    return this.#store.forget(id)
  }

  forgetEnded(beforeMs: number): Promise<number> {
    return this.#store.forgetEnded(beforeMs)
  }

  pause(group: string | null, reason: string): Promise<void> {
    return this.#store.pause(group === null ? null : this.#roots.toStore(group), reason)
  }

  resume(group: string | null): Promise<void> {
    return this.#store.resume(group === null ? null : this.#roots.toStore(group))
  }

  async pauses(): Promise<Pause[]> {
    const toHere = (group: string | null) => (group === null ? null : this.#roots.toHere(group))
    return (await this.#store.pauses()).map((pause) => ({ ...pause, group: toHere(pause.group) }))
  }

  watch(onReady: () => void): Promise<JobWatch> {
    return this.#store.watch(onReady)
  }

  close(): Promise<void> {
    return this.#store.close()
  }

  #stored<T>(value: T): T {
    return mapTexts(value, (text) => this.#roots.toStore(text))
  }

  #here(job: Job): Job {
    return mapTexts(job, (text) => this.#roots.toHere(text))
  }

  #hereOrNull(job: Job | null): Job | null {
    return job && this.#here(job)
  }

  #leftAlone(): string[] {
    const now = this.#now()
    for (const [group, untilMs] of this.#lacking) if (untilMs <= now) this.#lacking.delete(group)
    return [...this.#lacking.keys()]
  }

  /** Returns the name of a root that a job needs and this machine lacks or has not mounted. */
  async #lackedBy({ input, output, state }: Job): Promise<string | null> {
    const names = new Set<string>()
    mapTexts([input, output, state.order], (text) => {
      const name = rootOf(text)
      if (name !== null) names.add(name)
      return text
    })
    for (const name of names) {
      const here = this.#roots.hereOf(name)
      // The mount point of an unmounted share exists and is empty.
      const entries = here === null ? [] : await readdir(here).catch(() => [])
      if (entries.length === 0) return name
    }
    return null
  }

  #logOnce(name: string): void {
    if (this.#said.has(name)) return
    this.#said.add(name)
    const here = this.#roots.hereOf(name)
    const what = here === null ? `no path for ${name} (see \`paths\` in the configuration)` : `nothing at ${here}`
    this.#logger.warn({ root: name, here }, `This machine has ${what}, so it leaves jobs there to other workers.`)
  }
}
