import type { VoxmuxClient } from '../../client/index.js'
import { linkedAbort } from '../../core/abort.js'
import { PendingError } from '../../core/errors.js'

/** Longest delay of a timer. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

interface VoiceWait {
  readonly signal: AbortSignal
  readonly onPercent: (percent: number) => void
  /** Unix milliseconds after which the job stops waiting; undefined waits forever. */
  readonly untilMs: number | undefined
}

/**
 * Waits until the service has regenerated a file. At the time limit it leaves, but never before one status request, so
 * that a later run finds what is ready.
 *
 * @throws PendingError `ERR_STILL_RUNNING`; whatever the client's `waitFor` throws
 */
export async function waitForVoice(client: VoxmuxClient, fileId: string, wait: VoiceWait): Promise<void> {
  const { signal, onPercent, untilMs } = wait
  const { controller, release } = linkedAbort(signal)
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
    if (controller.signal.aborted && !signal.aborted) throw stillProcessed(fileId)
    throw error
  } finally {
    clearTimeout(timer)
    release()
  }
}

/** The error of a job that continues without this process. */
export function stillRunning(message: string): PendingError {
  return new PendingError('ERR_STILL_RUNNING', message, {
    remedies: ['Run the same command again later. It attaches, and you do not pay twice.'],
  })
}

/** The same, if the service has the voice. */
export const stillProcessed = (fileId: string) =>
  stillRunning(`The service is still processing it, as file id ${fileId}.`)
