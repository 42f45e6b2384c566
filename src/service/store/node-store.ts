import type { JobStore } from '../../jobs/index.js'
import type { ServiceStore } from './service-store.js'

/** A node's access to the store. */
export interface NodeStore {
  /** For whoever waits for an answer: where the store is away, it says so soon. */
  readonly store: ServiceStore
  /** For work that has come far: it waits for a store that is away. */
  readonly workStore: ServiceStore
  /** The queue of the files that were accepted, opened when it is first asked for. */
  jobs(): Promise<JobStore>
  /** From now on nobody waits long. */
  hurry(): void
  close(): Promise<void>
}
