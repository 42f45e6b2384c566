import type { Logger } from '../../core/logger.js'
import type { Database } from '../../jobs/index.js'
import type { ServiceSettings } from '../service-settings.js'
import type { FileStorage } from '../storage/file-storage.js'
import { type FileRecord, toFileRecord } from '../store/file-record.js'
import type { DeliveryLog } from '../webhooks/delivery-log.js'
import type { FileLife } from './file-life.js'

export interface RetentionOptions {
  readonly database: Database
  readonly storage: FileStorage
  readonly life: FileLife
  readonly log: DeliveryLog
  readonly settings: ServiceSettings
  readonly logger: Logger
}

/** Files looked at in one step of a sweep. */
const PAGE = 500

/**
 * Deletes what has outlived its time: inputs, then outputs, then the record of a file. Every step is safe to repeat,
 * so any number of nodes may sweep one folder.
 */
export async function sweepExpired(options: RetentionOptions, nowMs = Date.now()): Promise<void> {
  const { database, storage, life, log, settings } = options
  const { inputSec, outputSec, unusedSec, recordSec } = settings.retention
  const files = (where: string, beforeMs: number): FileRecord[] =>
    database.all(`SELECT * FROM file WHERE ${where} LIMIT ${PAGE}`, [beforeMs]).map(toFileRecord)
  const mark = (column: 'input_deleted_ms' | 'output_deleted_ms', id: string) =>
    database.run(`UPDATE file SET ${column} = ? WHERE id = ? AND ${column} IS NULL`, [nowMs, id]).changes === 1

  for (const file of files('input_deleted_ms IS NULL AND ended_ms < ?', nowMs - inputSec * 1000)) {
    // Marked first: a failed file whose input is going must not be started again.
    mark('input_deleted_ms', file.id)
    await storage.deleteInput(file.id)
  }
  for (const file of files('output_deleted_ms IS NULL AND ended_ms < ?', nowMs - outputSec * 1000)) {
    if (mark('output_deleted_ms', file.id)) life.deleted(file.id)
    await storage.deleteInput(file.id)
    if (file.outputExtension !== null) await storage.deleteOutput(file.id, file.outputExtension)
  }
  for (const file of files("state = 'registered' AND created_ms < ?", nowMs - unusedSec * 1000)) {
    const { changes } = database.run("DELETE FROM file WHERE id = ? AND state = 'registered'", [file.id])
    if (changes === 1) await storage.deleteInput(file.id)
  }
  database.run('DELETE FROM file WHERE output_deleted_ms < ?', [nowMs - recordSec * 1000])
  database.run('DELETE FROM api_key WHERE expires_ms < ?', [nowMs - recordSec * 1000])
  log.forgetBefore(nowMs - settings.webhooks.logSec * 1000)
  await storage.sweep((id) => database.get('SELECT 1 AS known FROM file WHERE id = ?', [id]) !== undefined)
}

/** Sweeps at a start and then time and again. @returns what stops it */
export function keepSweeping(options: RetentionOptions): () => Promise<void> {
  let running = Promise.resolve()
  const sweep = () => {
    running = running.then(() =>
      sweepExpired(options).catch((error: unknown) =>
        options.logger.warn({ err: error }, 'What has expired could not all be deleted; tried again.'),
      ),
    )
  }
  sweep()
  const timer = setInterval(sweep, options.settings.retention.sweepMs)
  timer.unref()
  return async () => {
    clearInterval(timer)
    await running
  }
}
