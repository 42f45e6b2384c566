import type { Job, JobStore } from '../../../src/ledger/index.js'
import type { OperatorView } from './operator-view.js'

/** A page of jobs of the daemon's folders, newest first. A store may hold jobs of other daemons and of `voxmux run`. */
export async function ownJobs(
  { daemon, jobs }: OperatorView,
  filter: Parameters<JobStore['list']>[0] & { readonly limit: number },
): Promise<Job[]> {
  const lists = await Promise.all(daemon.folders.map(({ group }) => jobs.list({ ...filter, group })))
  return lists
    .flat()
    .sort((a, b) => (a.id < b.id ? 1 : -1))
    .slice(0, filter.limit)
}
