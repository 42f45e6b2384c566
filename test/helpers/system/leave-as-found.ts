import { afterAll, vi } from 'vitest'

/**
 * Files of tests share a process, and what they start gets its environment. Each leaves it to the next as it was: no file
 * speaks to the service of another, runs another's tool, or lives by another's clock, even if a test failed half way.
 */
const before = { ...process.env }

afterAll(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
  for (const name of Object.keys(process.env)) {
    if (!(name in before)) delete process.env[name]
  }
  Object.assign(process.env, before)
})
