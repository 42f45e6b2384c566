import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { vi } from 'vitest'

/** The jobs that lie in a spool folder, by name: what a worker would take. */
export async function spooledJobs(spool: string): Promise<readonly unknown[]> {
  const names = (await readdir(spool)).filter((name) => name.endsWith('.json') && !name.startsWith('.')).sort()
  return Promise.all(names.map(async (name) => JSON.parse(await readFile(join(spool, name), 'utf8')) as unknown))
}

/** Waits until a spool folder holds so many jobs. */
export function waitForJobs(spool: string, count: number): Promise<readonly unknown[]> {
  return vi.waitFor(
    async () => {
      const jobs = await spooledJobs(spool)
      if (jobs.length < count) throw new Error(`${spool} holds ${jobs.length} jobs, not ${count}.`)
      return jobs
    },
    { timeout: 30_000, interval: 20 },
  )
}
