import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach } from 'vitest'
import type { ServiceStore } from '../../../src/service/store/service-store.js'

/** Two nodes' views of one store, and the clock they share. */
export interface TwoNodes {
  readonly one: ServiceStore
  readonly other: ServiceStore
  advance(ms: number): void
  close(): Promise<void>
}

/** Opens a fresh store for two nodes. */
export type OpenTwoNodes = (now: () => number) => Promise<Omit<TwoNodes, 'advance'>>

/** A fresh store for each test of a suite. */
export function eachWithTwoNodes(open: OpenTwoNodes): TwoNodes {
  let nodes: Omit<TwoNodes, 'advance'>
  let nowMs = 0
  beforeEach(async () => {
    nowMs = 1_800_000_000_000
    nodes = await open(() => nowMs)
  })
  afterEach(() => nodes.close())
  return {
    get one() {
      return nodes.one
    },
    get other() {
      return nodes.other
    },
    advance: (ms) => {
      nowMs += ms
    },
    close: () => nodes.close(),
  }
}

export const DAY_MS = 24 * 3600_000

/** A claim as a worker makes it. */
export const aClaim = () => Math.floor(Math.random() * 2 ** 40)

/** A user with a file that was started, and in the hands of a worker. */
export async function takenFile(store: ServiceStore, options: { webhook?: boolean; userId?: string } = {}) {
  const userId = options.userId ?? (await store.accounts.ensure('local')).id
  const { id } = await store.files.register(randomUUID(), { userId, clientFileId: 'takes/a.final.wav' })
  const start = { webhook: options.webhook ?? false, webhookSecret: null, outputType: null }
  await store.files.change(id, { kind: 'start', options: start })
  const taken = { id, claim: aClaim() }
  await store.files.claim(taken)
  return { ...taken, userId }
}
