import { mkdtemp } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { type ErrorReport, errorReport, toVoxmuxError, UsageError } from '../core/errors.js'
import { makeFolder } from '../core/make-folder.js'
import { sortableId } from '../ledger/index.js'
import { copyExcerpt, probe } from '../media/index.js'
import type { InputStatus, JobEvent, Stage } from '../pipeline/events.js'
import { type JobRequestFile, readJobRequests } from '../pipeline/queue/job-request.js'
import { type RunRequestsOptions, runRequests } from '../runtime/run-requests.js'

/** A job that the page started. */
export interface UiJob {
  readonly id: string
  /** The file that is regenerated: the one that was chosen, or an excerpt of it. */
  readonly input: string
  readonly isPreview: boolean
  readonly status: InputStatus | 'running'
  readonly stage: Stage | null
  /** Progress of the stage, 0 to 100. */
  readonly percent: number
  readonly output: string | null
  readonly receipt: string | null
  readonly error: ErrorReport | null
  readonly startedMs: number
  readonly endedMs: number | null
}

interface JobBoardOptions extends Pick<RunRequestsOptions, 'cwd' | 'env' | 'config' | 'settings' | 'logger'> {
  /** Private folder for previews. */
  readonly folder: string
}

/** Seconds of a preview. */
export const PREVIEW_SEC = 10

/** The jobs that the page started. They run as those of `voxmux run` and of scripts do. */
export class JobBoard {
  readonly #options: JobBoardOptions
  readonly #jobs = new Map<string, UiJob>()
  readonly #running = new Map<string, { readonly stop: AbortController; readonly ended: Promise<void> }>()

  constructor(options: JobBoardOptions) {
    this.#options = options
  }

  get(id: string): UiJob | undefined {
    return this.#jobs.get(id)
  }

  /** The job that runs now. A page that is loaded again shows it. Null if there is none. */
  get running(): UiJob | null {
    return [...this.#jobs.values()].find(({ status }) => status === 'running') ?? null
  }

  /** Starts a job. @throws {UsageError} `ERR_JOB_REQUEST` for a wrong setting */
  start(value: unknown): UiJob {
    const [job] = readJobRequests([value])
    return this.#begin(job as JobRequestFile, false, async () => job as JobRequestFile)
  }

  /**
   * Starts a job on ten seconds of a file. They are copied into the private folder, and the job works on the copy alone.
   *
   * @throws {UsageError} `ERR_JOB_REQUEST` for a wrong setting
   */
  startPreview(value: unknown, startSec: number): UiJob {
    const [job] = readJobRequests([value]) as [JobRequestFile]
    if (!(startSec >= 0)) throw new UsageError('ERR_JOB_REQUEST', 'A preview needs the second at which it begins.')
    return this.#begin(job, true, async (signal) => {
      const { cwd = process.cwd(), folder } = this.#options
      makeFolder(folder, 0o700)
      const own = await mkdtemp(join(folder, 'preview-'))
      const media = await probe(resolve(cwd, job.input), { signal })
      const input = await copyExcerpt(media, { startSec, lengthSec: PREVIEW_SEC, folder: own, signal })
      const { segments: _, ...rest } = job
      return { ...rest, input, output: `${own}/` }
    })
  }

  /** Stops a job. The same job later goes on from there, and nothing is paid again. */
  async stop(id: string): Promise<void> {
    const running = this.#running.get(id)
    running?.stop.abort()
    await running?.ended
  }

  async close(): Promise<void> {
    await Promise.all([...this.#running.keys()].map((id) => this.stop(id)))
  }

  #begin(
    { input }: JobRequestFile,
    isPreview: boolean,
    prepare: (signal: AbortSignal) => Promise<JobRequestFile>,
  ): UiJob {
    const id = sortableId()
    const stop = new AbortController()
    const none = { stage: null, percent: 0, output: null, receipt: null, error: null, endedMs: null }
    const job: UiJob = { id, input, isPreview, status: 'running', startedMs: Date.now(), ...none }
    this.#jobs.set(id, job)
    const ended = this.#run(id, stop.signal, prepare).finally(() => this.#running.delete(id))
    this.#running.set(id, { stop, ended })
    return job
  }

  async #run(id: string, signal: AbortSignal, prepare: (signal: AbortSignal) => Promise<JobRequestFile>) {
    try {
      const request = await prepare(signal)
      this.#change(id, { input: request.input })
      const { folder: _, ...around } = this.#options
      await runRequests([request], { ...around, group: 'ui', signal, onEvent: (event) => this.#take(id, event) })
    } catch (thrown) {
      const error = toVoxmuxError(thrown)
      this.#change(id, { status: error.exitCode === 130 ? 'pending' : 'failed', error: errorReport(error) })
    } finally {
      this.#change(id, { endedMs: Date.now() })
    }
  }

  #take(id: string, event: JobEvent): void {
    if (event.event === 'progress') this.#change(id, { stage: event.stage, percent: event.percent })
    else {
      const { status, output, receipt, error } = event
      this.#change(id, { status, output, receipt, error })
    }
  }

  #change(id: string, change: Partial<UiJob>): void {
    const job = this.#jobs.get(id)
    if (job) this.#jobs.set(id, { ...job, ...change })
  }
}
