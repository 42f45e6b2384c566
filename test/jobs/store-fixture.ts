import { afterEach, beforeEach } from 'vitest'
import type { ErrorReport } from '../../src/core/errors.js'
import type { ClaimedJob, JobRequest, JobStore } from '../../src/jobs/index.js'

/** Two processes' views of one store, and the clock they share. */
export interface StoreFixture {
  readonly one: JobStore
  /** As another process sees it. */
  readonly other: JobStore
  /** Moves the clock of both. */
  advance(ms: number): void
  now(): number
  close(): Promise<void>
}

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

/** Claims a job that has to be free. */
export async function claimed(store: JobStore, key: string): Promise<ClaimedJob> {
  const claim = await store.claim(key)
  if (claim.outcome !== 'claimed') throw new Error(`${key} is ${claim.outcome}`)
  return claim
}

/** A fresh fixture for each test of a suite. */
export function eachWith(make: () => Promise<StoreFixture>): StoreFixture {
  let fixture: StoreFixture
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
