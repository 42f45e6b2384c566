import { access, constants } from 'node:fs/promises'
import { toVoxmuxError } from '../../../src/core/errors.js'
import { withDeadline } from '../../../src/core/waiting.js'
import { requireFreeSpace } from '../../../src/pipeline/output/free-space.js'
import { LEAST_OUTPUT_BYTES } from '../../../src/pipeline/plan/plan-job.js'
import type { OperatorView } from './operator-view.js'
import { ownPauses } from './shown-jobs.js'

/** One condition of readiness. */
interface HealthCheck {
  readonly check: string
  readonly ok: boolean
  readonly detail: string
}

/** Time limit of a check. A dead network share responds after minutes or never. */
const PATIENCE_MS = 3000

const NOT_WATCHING = {
  starting: 'starting: the folders are not watched yet',
  stopping: 'stopping: nothing more is taken',
} as const

/** Checks that new files would be processed: the daemon watches, store, folders and disks respond, nothing is paused. */
export async function examineReadiness(view: OperatorView): Promise<readonly HealthCheck[]> {
  return Promise.all([
    checked('daemon', async () => {
      const phase = view.phase()
      if (phase !== 'watching') throw new Error(NOT_WATCHING[phase])
      return phase
    }),
    checked('job store', async () => {
      await view.jobs.counts()
      return 'answers'
    }),
    checked('intake', async () => {
      const [pause] = await ownPauses(view.jobs, view.daemon)
      if (pause) throw new Error(`paused: ${pause.reason}`)
      return 'open'
    }),
    ...view.daemon.folders.map(({ path, out, state, reason }) =>
      checked(path, async () => {
        if (state !== 'watching') throw new Error(reason ?? state)
        await access(path, constants.R_OK)
        const disk = await access(out).then(
          () => out,
          () => path,
        )
        await requireFreeSpace(new Map([[disk, LEAST_OUTPUT_BYTES]]))
        return state
      }),
    ),
  ])
}

async function checked(check: string, look: () => Promise<string>): Promise<HealthCheck> {
  try {
    const detail = await withDeadline(look(), PATIENCE_MS, () => {
      throw new Error(`no answer within ${PATIENCE_MS / 1000} s`)
    })
    return { check, ok: true, detail }
  } catch (fault) {
    return { check, ok: false, detail: fault instanceof Error ? fault.message : toVoxmuxError(fault).message }
  }
}
