import type { VoxmuxClient } from '../client/index.js'
import { childAbort } from '../core/abort.js'
import { PendingError } from '../core/errors.js'

/** Longest time a timer takes. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

export interface VoiceWait {
  readonly signal: AbortSignal
  readonly onPercent: (percent: number) => void
  /** Unix milliseconds from when on the job leaves instead of waiting; undefined: never. */
  readonly untilMs: number | undefined
}

/**
 * Waits until the service has regenerated a file. Where time runs out first, it leaves, but never before it has asked
 * once: who comes back later finds what is ready.
 *
 * @throws PendingError `ERR_STILL_RUNNING`; what `waitFor` of the client throws
 */
export async function waitForVoice(client: VoxmuxClient, fileId: string, wait: VoiceWait): Promise<void> {
  const { signal, onPercent, untilMs } = wait
  const { controller, release } = childAbort(signal)
  let asked = false
  let timer: NodeJS.Timeout | undefined
  const leaveWhereLate = () => {
    if (untilMs === undefined) return
    clearTimeout(timer)
    const leftMs = untilMs - Date.now()
    if (leftMs > 0) timer = setTimeout(leaveWhereLate, Math.min(leftMs, LONGEST_TIMER_MS))
    else if (asked) controller.abort()
  }
  leaveWhereLate()
  try {
    await client.waitFor(fileId, {
      signal: controller.signal,
      onStatus: ({ status, progress }) => {
        onPercent(progress)
        asked = true
        if (status === 'Pending' || status === 'InProgress') leaveWhereLate()
      },
    })
  } catch (error) {
    if (controller.signal.aborted && !signal.aborted) throw stillRunning(`at the service, as file id ${fileId}`)
    throw error
  } finally {
    clearTimeout(timer)
    release()
  }
}

/** The job goes on without this process, which leaves. */
export function stillRunning(where: string): PendingError {
  return new PendingError('ERR_STILL_RUNNING', `It is still running: ${where}.`, {
    remedies: ['Run the same again later: it attaches, and nothing is paid for twice.'],
  })
}
