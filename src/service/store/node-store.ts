import type { JobStore } from '../../ledger/index.js'
import type { ServiceStore } from './service-store.js'

/** A node's access to the store. */
export interface NodeStore {
  /** For requests: fails soon if the store is not reachable. */
  readonly store: ServiceStore
  /** For files in progress: waits until the store is reachable again. */
  readonly workStore: ServiceStore
  /** The queue of accepted files. Opened by the first call. */
  jobs(): Promise<JobStore>
  /** Shortens all waits from now on, because the node stops. */
  hurry(): void
  close(): Promise<void>
}
