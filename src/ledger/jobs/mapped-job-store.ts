import { readdir } from 'node:fs/promises'
import type { Logger } from '../../core/logger.js'
import type { Job } from './job.js'
import type { ClaimedJob, ClaimOptions, JobStore } from './job-store.js'
import { mapTexts, type PathRoots, rootOf } from './path-roots.js'

/** Time for which a worker skips a group after a folder of it was missing. */
const LACKING_MS = 30_000

/**
 * A store that maps paths: it converts this machine's paths to the store's on writing, and back on reading. A job in a
 * folder that this machine lacks is left to other workers, as if it had not been claimed.
 */
export function mappedJobStore(
  store: JobStore,
  roots: PathRoots,
  { logger, now = Date.now }: { logger: Logger; now?: () => number },
): JobStore {
  const stored = <T>(value: T): T => mapTexts(value, (text) => roots.toStore(text))
  const here = <T>(value: T): T => mapTexts(value, (text) => roots.toHere(text))
  const lacking = new LackingFolders(roots, logger, now)

  async function claimNext(options: ClaimOptions = {}): Promise<ClaimedJob | null> {
    for (;;) {
      const claimed = await store.claimNext({
        ...options,
        groups: options.groups && stored(options.groups),
        exceptGroups: [...(options.exceptGroups ?? []), ...lacking.groups()],
      })
      if (claimed === null) return null
      const name = await lacking.nameFor(claimed.job)
      if (name === null) return { ...claimed, job: here(claimed.job) }
      await store.putBack(claimed)
      lacking.add(claimed.job.group, name)
    }
  }

  return {
    ...store,
    enqueue: async (request) => {
      const answer = await store.enqueue(stored(request))
      return { ...answer, job: here(answer.job) }
    },
    claim: async (...args) => {
      const claim = await store.claim(...args)
      return claim.outcome === 'unknown' ? claim : { ...claim, job: here(claim.job) }
    },
    claimNext,
    checkpoint: async (lease, checkpoint) => here(await store.checkpoint(lease, stored(checkpoint))),
    takeOutput: async (lease, path) => here(await store.takeOutput(lease, stored(path))),
    complete: async (lease, end) => here(await store.complete(lease, stored(end))),
    fail: async (...args) => here(await store.fail(...args)),
    retryAt: async (...args) => here(await store.retryAt(...args)),
    release: async (...args) => here(await store.release(...args)),
    get: async (id) => here(await store.get(id)),
    getByKey: async (key) => here(await store.getByKey(key)),
    list: async (filter = {}) => here(await store.list(stored(filter))),
    counts: async () => here(await store.counts()),
    setPriority: async (...args) => here(await store.setPriority(...args)),
    requeue: async (id) => here(await store.requeue(id)),
    cancel: async (...args) => here(await store.cancel(...args)),
    expedite: (filter) => store.expedite(stored(filter)),
    pause: (group, reason) => store.pause(stored(group), reason),
    resume: (group) => store.resume(stored(group)),
    pauses: async () => (await store.pauses()).map((pause) => ({ ...pause, group: here(pause.group) })),
  }
}

/** The groups of which this machine lacks a folder. */
class LackingFolders {
  readonly #roots: PathRoots
  readonly #logger: Logger
  readonly #now: () => number
  /** Groups of the store, with the time until which they are skipped. */
  readonly #untilMs = new Map<string, number>()
  readonly #said = new Set<string>()

  constructor(roots: PathRoots, logger: Logger, now: () => number) {
    this.#roots = roots
    this.#logger = logger
    this.#now = now
  }

  /** The groups to skip now. */
  groups(): string[] {
    const now = this.#now()
    for (const [group, untilMs] of this.#untilMs) if (untilMs <= now) this.#untilMs.delete(group)
    return [...this.#untilMs.keys()]
  }

  /** Returns the name of a root that a job needs and this machine lacks or has not mounted. */
  async nameFor({ input, output, state }: Job): Promise<string | null> {
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

  /** Skips a group for a while, and logs a root once. */
  add(group: string, name: string): void {
    this.#untilMs.set(group, this.#now() + LACKING_MS)
    if (this.#said.has(name)) return
    this.#said.add(name)
    const here = this.#roots.hereOf(name)
    const what = here === null ? `no path for ${name} (see \`paths\` in the configuration)` : `nothing at ${here}`
    this.#logger.warn({ root: name, here }, `This machine has ${what}, so it leaves jobs there to other workers.`)
  }
}
