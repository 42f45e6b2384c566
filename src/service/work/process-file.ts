import { join } from 'node:path'
import type { FileErrorCode } from '../../contract/index.js'
import { fileErrorCodeSchema, fileErrorInfo } from '../../contract/index.js'
import { errorReport, InterruptedError, JobFailedError, toVoxmuxError, VoxmuxError } from '../../core/errors.js'
import type { Logger } from '../../core/logger.js'
import { redactText } from '../../core/redact.js'
import { backoffMs } from '../../core/time.js'
import type { HeldJob } from '../../jobs/index.js'
import { type MediaInfo, probe } from '../../media/index.js'
import { downloadSource } from '../download/download-source.js'
import type { ServiceSettings } from '../service-settings.js'
import type { FileStorage } from '../storage/file-storage.js'
import type { FileRecord } from '../store/file-record.js'
import type { Files } from '../store/files.js'
import type { FileLife } from './file-life.js'
import type { VoiceEngine } from './voice-engine.js'

export interface FileWork {
  readonly files: Files
  readonly life: FileLife
  readonly storage: FileStorage
  readonly engine: () => Promise<VoiceEngine>
  readonly settings: ServiceSettings
  readonly allowPrivateUrls: boolean
  readonly logger: Logger
}

/** Does one accepted file to its end: fetched, checked, paid, processed, stored. Safe to be done again from the start. */
export async function workOnFile(held: HeldJob, work: FileWork): Promise<void> {
  const file = work.files.byId(held.job.key)
  if (!file || file.endedMs !== null) {
    await held.complete({ status: 'skipped' })
    return
  }
  const timeout = AbortSignal.timeout(work.settings.work.timeoutMs)
  try {
    await processFile(file, work, AbortSignal.any([held.signal, timeout]))
    await held.complete({ status: 'done' })
  } catch (thrown) {
    // The lease is lost or the node stops: the queue gives the job back, somebody else goes on.
    if (held.signal.aborted) throw new InterruptedError('The file is given back.', { cause: thrown })
    await endFailed(held, file, thrown, timeout.aborted, work)
  }
}

async function processFile(file: FileRecord, work: FileWork, signal: AbortSignal): Promise<void> {
  const { life, storage } = work
  await fetchSource(file, work, signal)
  const input = await storage.takeInput(file.id, signal)
  try {
    const media = await probe(input.path, { signal })
    charge(file, media, work.files)
    life.begin(file.id)
    const output = join(await storage.workFolder(file.id), 'output')
    const engine = await work.engine()
    const { extension } = await engine.processFile({
      input: input.path,
      output,
      ...(file.startSec !== null && { startSec: file.startSec }),
      ...(file.endSec !== null && { endSec: file.endSec }),
      ...(file.outputType !== null && { outputType: file.outputType }),
      signal,
      onProgress: (percent) => life.progress(file.id, percent),
    })
    signal.throwIfAborted()
    await storage.putOutput(file.id, extension, output, signal)
    life.succeed(file.id, extension)
  } finally {
    await input.release()
  }
}

async function fetchSource(file: FileRecord, work: FileWork, signal: AbortSignal): Promise<void> {
  const { life, storage, settings, allowPrivateUrls } = work
  if (file.sourceUrl === null || (await storage.inputSize(file.id)) !== undefined) return
  life.fetching(file.id)
  const { maxUploadBytes: maxBytes, idleTimeoutMs } = settings.links
  await downloadSource(
    file.sourceUrl,
    { limits: settings.download, maxBytes, idleTimeoutMs, allowPrivateUrls, signal },
    (source, until) => storage.putInput(file.id, source, until),
  )
  life.fetched(file.id)
}

/** A credit is a second of audio; the part that is asked for is what is paid for. */
function charge(file: FileRecord, media: MediaInfo, files: Files): void {
  const endSec = Math.min(file.endSec ?? Number.POSITIVE_INFINITY, media.durationSec ?? 0)
  const partSec = Math.max(0, endSec - (file.startSec ?? 0))
  if (!files.charge(file.id, partSec)) throw fileFailure(-10, file)
}

async function endFailed(held: HeldJob, file: FileRecord, thrown: unknown, timedOut: boolean, work: FileWork) {
  const error = toVoxmuxError(thrown)
  const code = timedOut ? -12 : fileCodeOf(thrown)
  const { attempts } = held.job
  const fields = { fileId: file.id, code: code ?? error.code, attempts, reason: redactText(error.message) }
  if (code === undefined && attempts < work.settings.work.attempts) {
    work.logger.warn(fields, 'A file failed and is tried again.')
    await held.retryAt(Date.now() + backoffMs(attempts, 250, 10_000), errorReport(error))
    return
  }
  work.logger.warn(fields, 'A file failed.')
  // The record first: a crash in between leaves a job that finds its file ended.
  work.life.fail(file.id, code ?? -1)
  await held.fail({ status: 'failed', error: errorReport(error) })
}

/** The file error code that an error carries; undefined for a fault of the service. */
function fileCodeOf(thrown: unknown): FileErrorCode | undefined {
  const parsed = fileErrorCodeSchema.safeParse(thrown instanceof VoxmuxError ? thrown.errorCode : undefined)
  // -1 and 0 are no verdicts on a file.
  return parsed.success && parsed.data < -1 ? parsed.data : undefined
}

function fileFailure(code: FileErrorCode, file: FileRecord): JobFailedError {
  const info = fileErrorInfo(code)
  return new JobFailedError('ERR_FILE_FAILED', info.meaning, {
    input: file.fileName,
    errorCode: code,
    errorName: info.name,
    remedies: info.remedies,
  })
}
