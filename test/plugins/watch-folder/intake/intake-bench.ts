import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import { type FileFacts, fileFacts } from '../../../../plugins/watch-folder/candidates/file-facts.js'
import { Intake, type IntakeResult } from '../../../../plugins/watch-folder/intake/intake.js'
import { openSeenFiles, type SeenFiles } from '../../../../plugins/watch-folder/intake/seen-files.js'
import type { WatchedFolder } from '../../../../plugins/watch-folder/watched-folder.js'
import { isEnded } from '../../../../src/ledger/index.js'
import { openJobWorker } from '../../../../src/pipeline/queue/job-worker.js'
import { type JobBench, jobBench } from '../../../helpers/job-bench.js'
import { requestFor } from '../../../helpers/test-pipeline.js'
import { until } from '../../../helpers/until.js'

/** A watched folder `in` with the intake of the daemon, whose turns the test takes itself. */
export interface IntakeBench {
  readonly jobs: JobBench
  /** Absolute path below the watched folder. */
  file(path: string): string
  watched(more?: Partial<WatchedFolder>): WatchedFolder
  /** Takes a file as the daemon does when it has settled. @param seen its facts, if it has changed since */
  take(path: string, folder?: WatchedFolder, seen?: FileFacts | null): Promise<IntakeResult>
  /** Runs what is queued to its end. */
  work(): Promise<void>
  /** Removes the index of seen files. */
  loseIndex(): void
}

/** Sets a bench up around each test of the file that calls it. */
export function intakeBench(): IntakeBench {
  const jobs = jobBench()
  let seen: SeenFiles
  let indexes = 0
  const openIndex = () => openSeenFiles(jobs.folder.file(`seen-${indexes++}.sqlite`))
  beforeEach(() => {
    seen = openIndex()
    mkdirSync(jobs.folder.file('in'))
  })
  afterEach(() => seen.close())
  const file = (path: string) => join(jobs.folder.file('in'), path)
  const watched = (more: Partial<WatchedFolder> = {}): WatchedFolder => ({
    ...{ group: jobs.folder.file('in'), path: jobs.folder.file('in'), source: 'keep', after: null, priority: 0 },
    ...{ out: file('out'), failed: file('failed'), done: file('done'), nameTemplate: '{folder}/{name}{ext}' },
    ...{ settleMs: 0, patienceMs: 0, scanMs: 100, poll: true },
    filter: { include: [], exclude: [], marker: null, renamedFrom: null },
    settings: requestFor(file('x.wav')).settings,
    ...more,
  })
  return {
    ...{ jobs, file, watched },
    async take(path, folder = watched(), seenFacts) {
      const facts = seenFacts ?? (await fileFacts(file(path)))
      if (!facts) throw new Error(`${path} is not there`)
      return new Intake(folder, jobs.pipeline.context, seen).take(path, facts, new AbortController().signal)
    },
    async work() {
      const worker = openJobWorker(jobs.pipeline.context, { concurrency: 1, pollMs: 20 })
      worker.start()
      await until(async () => (await jobs.pipeline.context.jobs.list()).every(({ status }) => isEnded(status)))
      await worker.stop()
    },
    loseIndex() {
      seen.close()
      seen = openIndex()
    },
  }
}
