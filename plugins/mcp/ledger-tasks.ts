import { type Desk, requireOwnJob } from './desk.js'
import type { TaskStore } from './sdk-package.js'
import { isCancelled, taskOf, toolJob } from './tool-job.js'
import { toolResult } from './tool-result.js'

const PAGE = 50

/** The jobs of a server as tasks of the protocol. The ledger holds them, so they outlive client and server. */
export function ledgerTasks(desk: Desk): TaskStore {
  const { jobs } = desk.context
  return {
    // `run` makes the task, because only it has checked the plan.
    createTask: () => Promise.reject(new Error('Only the tool `run` makes tasks.')),
    getTask: async (id) => {
      const job = await jobs.get(id)
      return job?.group === desk.group ? taskOf(job, desk) : null
    },
    storeTaskResult: () => Promise.reject(new Error('The ledger stores the results.')),
    getTaskResult: async (id) => toolResult(toolJob(await requireOwnJob(desk, id), desk)),
    // Every other status is that of the job.
    updateTaskStatus: async (id, status) => {
      if (status !== 'cancelled') return
      await desk.worker.cancel(id)
      if (!isCancelled(await requireOwnJob(desk, id))) throw new Error('The job ended before it was cancelled.')
    },
    listTasks: async (before) => {
      const found = await jobs.list({ group: desk.group, limit: PAGE, before })
      const last = found.length === PAGE ? found.at(-1) : undefined
      return { tasks: found.map((job) => taskOf(job, desk)), ...(last && { nextCursor: last.id }) }
    },
  }
}
