import { afterEach, beforeEach } from 'vitest'
import type { ErrorReport } from '../../src/core/errors.js'
import {
  type ClaimedJob,
  type JobRequest,
  type JobStore,
  type Ledger,
  type LedgerRow,
  sortableId,
} from '../../src/ledger/index.js'

/** Two processes' views of one part of a ledger, and the clock they share. */
export interface Shared<T> {
  readonly one: T
  /** As another process sees it. */
  readonly other: T
  /** Moves the clock of both. */
  advance(ms: number): void
  now(): number
  close(): Promise<void>
}

/** As {@link Shared}, of jobs. */
export type StoreFixture = Shared<JobStore>

export const request = (key: string, more: Partial<JobRequest> = {}): JobRequest => ({
  key,
  group: 'folder',
  input: `/in/${key}.mov`,
  ...more,
})

export const report: ErrorReport = {
  code: 'ERR_SERVICE_BUSY',
  errorCode: null,
  name: null,
  message: 'The service is busy.',
  remedies: ['Wait.'],
}

/** Enqueues jobs one after another. @returns how many were new */
export async function enqueueAll(store: JobStore, requests: readonly JobRequest[]): Promise<number> {
  let created = 0
  for (const one of requests) created += Number((await store.enqueue(one)).created)
  return created
}

/** Adds thousands of jobs in a moment, as `voxmux jobs import` does. @returns how many were new */
export function importJobs(ledger: Pick<Ledger, 'rows'>, requests: readonly JobRequest[]): Promise<number> {
  async function* rows(): AsyncGenerator<LedgerRow> {
    for (const { key, group, input, inputIdentity, recipeHash = '', preset = null, state = {} } of requests) {
      const identity = inputIdentity ? JSON.stringify(inputIdentity) : null
      const none = { not_before_ms: null, output: null, error: null, receipt: null, published_sha256: null }
      const row = {
        ...{ id: sortableId(), key, grp: group, priority: 0, status: 'queued', ready: 1, attempts: 0, input, preset },
        ...{ input_identity: identity, recipe_hash: recipeHash, state: JSON.stringify(state) },
        ...{ ...none, created_ms: Date.now(), updated_ms: Date.now() },
      }
      yield { table: 'jobs', row }
    }
  }
  return ledger.rows.import(rows())
}

/** Claims a job that has to be free. */
export async function claimed(store: JobStore, key: string): Promise<ClaimedJob> {
  const claim = await store.claim(key)
  if (claim.outcome !== 'claimed') throw new Error(`${key} is ${claim.outcome}`)
  return claim
}

/** A fresh fixture for each test of a suite. */
export function eachWith<T>(make: () => Promise<Shared<T>>): Shared<T> {
  let fixture: Shared<T>
  beforeEach(async () => {
    fixture = await make()
  })
  afterEach(() => fixture.close())
  return {
    get one() {
      return fixture.one
    },
    get other() {
      return fixture.other
    },
    advance: (ms) => fixture.advance(ms),
    now: () => fixture.now(),
    close: () => fixture.close(),
  }
}

/** The same part of two processes' views of one ledger. */
export async function sharedLedger<P extends 'jobs' | 'voices' | 'spending' | 'limits'>(
  part: P,
  open: (now: () => number) => Promise<Ledger>,
  startMs = 1_800_000_000_000,
): Promise<Shared<Ledger[P]>> {
  let nowMs = startMs
  const now = () => nowMs
  const ledgers = [await open(now), await open(now)] as const
  return {
    one: ledgers[0][part],
    other: ledgers[1][part],
    now,
    advance: (ms) => {
      nowMs += ms
    },
    close: async () => {
      for (const ledger of ledgers) await ledger.close()
    },
  }
}

/** When the suite of spending begins. */
export const BEFORE_MIDNIGHT_MS = Date.UTC(2026, 5, 1, 23, 59, 59)
