import { randomUUID } from 'node:crypto'
import type { Logger } from '../../core/logger.js'
import type { ServiceSettings } from '../service-settings.js'
import type { FileStorage } from '../storage/file-storage.js'
import type { FileRecord } from '../store/file-record.js'
import { EXPIRED_PAGE, type ExpiredData, type Files } from '../store/files.js'
import type { ServiceStore } from '../store/service-store.js'
import type { FileLife } from './file-life.js'
import type { FileQueue } from './file-queue.js'

interface RetentionOptions {
  readonly store: Pick<ServiceStore, 'files' | 'keys' | 'log' | 'takeTurn'>
  readonly storage: FileStorage
  readonly life: FileLife
  readonly queue: FileQueue
  readonly settings: ServiceSettings
  readonly logger: Logger
}

/** Interval at which all folders are searched. That is slow on a share, and leftovers are an hour old anyway. */
const FOLDERS_MS = 15 * 60_000

/** Longer than a sweep takes: another node takes over only if this one died during its sweep. */
const SWEEP_MS = 10 * 60_000

/**
 * Deletes whatever has expired: inputs, then outputs, then the record of a file. Queues files that a dead node accepted
 * but did not queue. Every step is safe to repeat on any node.
 */
async function sweepExpired({ store, storage, life, queue, settings }: RetentionOptions): Promise<void> {
  const { files, keys, log } = store
  const { inputSec, outputSec, unusedSec, recordSec } = settings.retention

  await queue.recover()
  await each(files, 'input', inputSec, async (file) => {
    // Marked first: a failed file whose input is being deleted must not be started again.
    const { changed } = await files.change(file.id, { kind: 'input-deleted' })
    if (changed) await storage.deleteInput(file.id)
  })
  await each(files, 'output', outputSec, async (file) => {
    await life.deleted(file.id)
    await storage.deleteInput(file.id)
    if (file.outputExtension !== null) await storage.deleteOutput(file.id, file.outputExtension)
  })
  await each(files, 'unused', unusedSec, async (file) => {
    if (await files.forgetUnused(file.id)) await storage.deleteInput(file.id)
  })
  // As long as an output would have been there if its client had waited.
  await each(files, 'unended', outputSec, async (file) => {
    if (!(await queue.giveUp(file))) return
    await files.forgetUnended(file.id)
    await storage.deleteInput(file.id)
  })
  await files.forgetDeleted(recordSec * 1000)
  await keys.forgetExpired(recordSec * 1000)
  await log.forgetOld(settings.webhooks.logSec * 1000)
  await queue.forgetEnded(inputSec * 1000)
  if (await store.takeTurn('sweep of folders', randomUUID(), FOLDERS_MS)) await storage.sweep((ids) => files.known(ids))
}

/** Handles every expired file page by page. A handled file is not on the next page. */
async function each(files: Files, what: ExpiredData, forSec: number, deal: (file: FileRecord) => Promise<void>) {
  const seen = new Set<string>()
  for (;;) {
    const page = (await files.expired(what, forSec * 1000)).filter(({ id }) => !seen.has(id))
    for (const file of page) {
      seen.add(file.id)
      await deal(file)
    }
    if (page.length < EXPIRED_PAGE) return
  }
}

/** Sweeps at start and then at an interval, one node at a time. @returns a function that stops it */
export function keepSweeping(options: RetentionOptions): () => Promise<void> {
  const { store, settings, logger } = options
  const { sweepMs } = settings.retention
  const node = randomUUID()
  const stopping = { now: false }
  const sweep = async () => {
    if (stopping.now || !(await store.takeTurn('sweep', node, SWEEP_MS))) return
    await sweepExpired(options)
    // Block the other nodes until the next sweep is due: one sweep per interval, however many nodes there are.
    await store.takeTurn('sweep', node, sweepMs / 2)
  }
  let running = Promise.resolve()
  const begin = () => {
    running = running.then(() =>
      sweep().catch((err: unknown) =>
        logger.warn({ err }, 'Some expired files could not be deleted. The next sweep retries.'),
      ),
    )
  }
  begin()
  const timer = setInterval(begin, sweepMs)
  timer.unref()
  return async () => {
    stopping.now = true
    clearInterval(timer)
    await running
    // End the turn, so that another node or the next start need not wait.
    await store.takeTurn('sweep', node, 0).catch(() => {})
  }
}
