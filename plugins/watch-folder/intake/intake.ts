import { dirname, join } from 'node:path'
import { toVoxmuxError } from '../../../src/core/errors.js'
import { fileSha256 } from '../../../src/core/file-identity.js'
import { isEnded, type Job } from '../../../src/ledger/index.js'
import type { PipelineContext } from '../../../src/pipeline/context.js'
import { INPUT_GONE_CODES } from '../../../src/pipeline/input-guard.js'
import { readReceipt } from '../../../src/pipeline/output/receipt.js'
import { isSuperseded, queueJob } from '../../../src/pipeline/queue/queue-job.js'
import { type FileFacts, fileFacts, hasChanged, isSameVersion } from '../candidates/file-facts.js'
import { outputByTemplate } from '../folders/output-by-template.js'
import { FailureReports } from '../hooks/failure-reports.js'
import { moveMarker, moveSource } from '../hooks/move-source.js'
import type { WatchedFolder } from '../watched-folder.js'
import { contentId, isSampled } from './content-id.js'
import { aftercareData } from './job-aftercare.js'
import type { SeenFile, SeenFiles } from './seen-files.js'
import { takenData, takenFileOf } from './taken-file.js'

/**
 * The result for a whole file.
 *
 * `later`: it changed, or a worker runs its job or that of its older version. Ask again.
 *
 * `output`: it is an output of voxmux, see `likelyReceipt`.
 */
export type IntakeResult =
  | { readonly outcome: 'queued' | 'known'; readonly job: Job; readonly seen: SeenFile }
  | { readonly outcome: 'later' }
  | { readonly outcome: 'output' }

/** Number of jobs of one path to search for its content. */
const KNOWN_LIMIT = 5

/** Queues the whole files of one folder, each version of each file once. */
export class Intake {
  readonly #folder: WatchedFolder
  readonly #context: PipelineContext
  readonly #seen: SeenFiles

  constructor(folder: WatchedFolder, context: PipelineContext, seen: SeenFiles) {
    this.#folder = folder
    this.#context = context
    this.#seen = seen
  }

  /**
   * Takes a whole file. A renamed or touched file keeps its job. A newer version is a new job, and the older version's
   * job is forgotten if no worker has begun it.
   *
   * @param path within the folder
   */
  async take(path: string, facts: FileFacts, signal: AbortSignal): Promise<IntakeResult> {
    const { group } = this.#folder
    const absolute = join(this.#folder.path, path)
    const before = this.#seen.get(group, path)
    const id = await this.#contentIdOf(absolute, facts, before, signal)
    const after = await fileFacts(absolute)
    if (!after || hasChanged(facts, after)) return { outcome: 'later' }
    const same = await this.#sameFile(before, absolute, id)
    if (same && !isPassing(same)) return this.#known(path, facts, id, same)
    const moved = await this.#movedFrom(path, id)
    if (moved && !(await this.#freeOldName(moved, path))) return { outcome: 'later' }
    const movedJob = moved && (await this.#context.jobs.get(moved.jobId))
    if (movedJob && isEnded(movedJob.status) && !isPassing(movedJob)) return this.#known(path, facts, id, movedJob)
    if (before && before.contentId !== id && !(await this.#forgetQueued(before))) return { outcome: 'later' }
    return this.#queue(path, facts, id, before !== null && before.contentId !== id)
  }

  /** The job of this very file. The ledger knows it too, if the index was lost. */
  async #sameFile(before: SeenFile | null, absolute: string, id: string): Promise<Job | null> {
    const { jobs } = this.#context
    if (before) return before.contentId === id ? jobs.get(before.jobId) : null
    // By its path alone, which is one look into an index.
    const known = await jobs.list({ input: absolute, limit: KNOWN_LIMIT })
    const same = known.find((job) => job.group === this.#folder.group && takenIdOf(job) === id)
    return same && !(await isSuperseded(same, jobs)) ? same : null
  }

  async #queue(path: string, facts: FileFacts, id: string, isNewer: boolean): Promise<IntakeResult> {
    const { out, nameTemplate, settings, group, priority } = this.#folder
    const input = join(this.#folder.path, path)
    const takenMs = Date.now()
    const place = outputByTemplate(out, nameTemplate, { path, preset: settings.preset, takenMs })
    const taken = { path, sizeBytes: facts.sizeBytes, mtimeNs: facts.mtimeNs, contentId: id }
    const file = { input, output: `${place.folder}/`, outputStem: place.stem, settings, group, priority }
    const { job, created } = await queueJob(
      {
        ...file,
        supersede: true,
        contentId: id,
        data: { ...takenData(taken), aftercare: aftercareData(this.#folder) },
      },
      this.#context,
    )
    if (job.input !== input && !isEnded(job.status)) return { outcome: 'later' }
    // An older version came back, or a file was away: its job runs again.
    if (!created && isEnded(job.status) && (isNewer || isPassing(job))) await this.#context.jobs.requeue(job.id)
    if (!created) return this.#known(path, facts, id, job)
    return { outcome: 'queued', job, seen: this.#remember(path, facts, id, job) }
  }

  async #known(path: string, facts: FileFacts, id: string, job: Job): Promise<IntakeResult> {
    await this.#putAway(path, facts, job)
    await this.#report(path, job)
    return { outcome: 'known', job, seen: this.#remember(path, facts, id, job) }
  }

  /** Moves a file that was done and moved before, and was dropped again. Nothing else is left to do. */
  async #putAway(path: string, facts: FileFacts, { status, output }: Job): Promise<void> {
    const { source, path: root, done, filter } = this.#folder
    if (source !== 'move' || status !== 'done' || output === null || !(await fileFacts(output))) return
    const moved = await moveSource(root, path, done, facts)
    if (moved !== join(root, path)) await moveMarker(root, path, done, filter.marker)
  }

  /** Reports a failed file again that was renamed, or removed and copied again: its report went with its old place. */
  async #report(path: string, job: Job): Promise<void> {
    const { path: root, failed } = this.#folder
    try {
      await new FailureReports(failed, root).restore(path, join(root, path), job)
    } catch (fault) {
      const input = join(root, path)
      this.#context.logger.warn({ job: job.id, input }, `The failure was not reported: ${toVoxmuxError(fault).message}`)
    }
  }

  #remember(path: string, facts: FileFacts, id: string, job: Job): SeenFile {
    const { sizeBytes, mtimeNs, ino } = facts
    const seen = { group: this.#folder.group, path, sizeBytes, mtimeNs, ino, contentId: id, jobId: job.id }
    this.#seen.put([seen])
    return seen
  }

  /**
   * Id of a file's content. A long file that resembles one that was done, under its name or another, is read whole:
   * samples could miss a small change.
   */
  async #contentIdOf(
    absolute: string,
    facts: FileFacts,
    before: SeenFile | null,
    signal: AbortSignal,
  ): Promise<string> {
    const id = await contentId(absolute, signal)
    if (!isSampled(facts.sizeBytes)) return id
    const others = this.#seen.withContent(this.#folder.group, id).filter(({ path }) => path !== before?.path)
    // It was only renamed.
    if (others.some((other) => isSameVersion(other, facts))) return id
    let sha256: string | undefined
    for (const known of [...(before?.sizeBytes === facts.sizeBytes ? [before] : []), ...others]) {
      const done = await this.#sha256OfDone(known)
      if (done === undefined) continue
      sha256 ??= await fileSha256(absolute, signal)
      if (sha256 === done) return known.contentId
    }
    return sha256 ?? id
  }

  /** SHA-256 of a known file that was read to its end for its job. */
  async #sha256OfDone({ jobId }: SeenFile): Promise<string | undefined> {
    const job = await this.#context.jobs.get(jobId)
    const receipt = job?.receipt ? await readReceipt(job.receipt) : undefined
    return receipt?.input.sha256 ?? undefined
  }

  /** The known file of the same content whose old path is gone: this is the same file under another name. */
  async #movedFrom(path: string, id: string): Promise<SeenFile | undefined> {
    const { group, path: root } = this.#folder
    for (const other of this.#seen.withContent(group, id)) {
      if (other.path === path) continue
      const facts = await fileFacts(join(root, other.path))
      if (!facts || facts.sizeBytes !== other.sizeBytes) return other
    }
    return undefined
  }

  /**
   * Frees a renamed file from its old name. A waiting job follows it within its folder by itself. In another folder its
   * output has another path, so it is another job.
   *
   * @returns false while a worker runs that job
   */
  async #freeOldName(moved: SeenFile, path: string): Promise<boolean> {
    const job = await this.#context.jobs.get(moved.jobId)
    if (job && !isEnded(job.status)) {
      if (job.holder !== null) return false
      if (dirname(moved.path) !== dirname(path) && !(await this.#context.jobs.forget(job.id))) return false
    }
    this.#seen.remove(moved.group, [moved.path])
    return true
  }

  /** Forgets the job of the older version, which could only fail. @returns false while a worker runs it */
  async #forgetQueued(before: SeenFile): Promise<boolean> {
    const { jobs } = this.#context
    const job = await jobs.get(before.jobId)
    if (!job || isEnded(job.status)) return true
    return job.holder === null && (await jobs.forget(job.id))
  }
}

/** True for a job that failed only because the file was elsewhere or different at that moment. */
function isPassing({ status, error }: Job): boolean {
  return isEnded(status) && error !== null && INPUT_GONE_CODES.has(error.code)
}

/** Id of the content that a job was queued for. Read without its version, because the job itself is not run here. */
function takenIdOf({ state }: Job): string | undefined {
  const { data = {} } = (state.order ?? {}) as { readonly data?: Readonly<Record<string, unknown>> }
  return takenFileOf(data)?.contentId
}
