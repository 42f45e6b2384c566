import { access, constants } from 'node:fs/promises'
import type { OperatorView } from './operator-view.js'

/** One thing that readiness hangs on. */
export interface HealthCheck {
  readonly check: string
  readonly ok: boolean
  readonly detail: string
}

/** How long a look may take: a dead network share answers after minutes, if at all. */
const PATIENCE_MS = 2000

/** Whether files that arrive now would be worked on: the store answers, folders are there, nothing is paused. */
export async function examineReadiness(view: OperatorView): Promise<readonly HealthCheck[]> {
  const checks = await Promise.all([
    checked('job store', async () => {
      await view.jobs.counts()
      return 'answers'
    }),
    checked('intake', async () => {
      const [pause] = await view.jobs.pauses()
      if (pause) throw new Error(`paused: ${pause.reason}`)
      return 'open'
    }),
    ...view.daemon.folders.map(({ path, state, reason }) =>
      checked(path, async () => {
        if (state !== 'watching') throw new Error(reason ?? state)
        await access(path, constants.R_OK)
        return state
      }),
    ),
  ])
  return checks
}

async function checked(check: string, look: () => Promise<string>): Promise<HealthCheck> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${PATIENCE_MS / 1000} s`)), PATIENCE_MS)
  })
  try {
    return { check, ok: true, detail: await Promise.race([look(), late]) }
  } catch (fault) {
    return { check, ok: false, detail: fault instanceof Error ? fault.message : String(fault) }
  } finally {
    clearTimeout(timer)
  }
}
