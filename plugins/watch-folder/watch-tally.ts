import { type ExitCode, overallExitCode } from '../../src/core/errors.js'
import type { FileEvent } from '../../src/pipeline/events.js'
import type { JobHooks } from '../../src/pipeline/job-hooks.js'

/** How the files ended that `--once` found, each as it stands by now. */
export class WatchTally {
  readonly #files = new Map<string, FileEvent>()
  readonly #exitCodes = new Map<string, ExitCode>()

  /** Hears of the exit code of each failure, which no event has. */
  readonly hooks: JobHooks = {
    name: 'tally',
    onFailure: ({ id, error }) => void this.#exitCodes.set(id, error.exitCode),
  }

  /** Notes an event; a file that was put off and ended later counts as it ended. */
  add(event: FileEvent): void {
    this.#files.set(event.id, event)
    if (event.status === 'done' || event.status === 'skipped') this.#exitCodes.delete(event.id)
  }

  get files(): readonly FileEvent[] {
    return [...this.#files.values()]
  }

  /** The gravest end. What was put off may succeed another time. */
  get exitCode(): ExitCode {
    return overallExitCode(
      this.files.map(({ id, status }) => (status === 'pending' ? 4 : (this.#exitCodes.get(id) ?? 0))),
    )
  }
}
