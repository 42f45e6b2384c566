import { join } from 'node:path'
import type PQueue from 'p-queue'
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
  /** One at a time. */
  readonly suspects: PQueue
  readonly settings: ServiceSettings
  readonly allowPrivateUrls: boolean
  readonly logger: Logger
}

/**
 * A file that was in work at so many crashes waits until no other such file is in work: the one that kills its node is
 * then alone in being counted, and the rest come through.
 */
const SUSPICIOUS_CRASHES = 2

/** Does one accepted file to its end: fetched, checked, paid, processed, stored. Safe to be done again from the start. */
export async function workOnFile(held: HeldJob, work: FileWork): Promise<void> {
  const file = work.files.findAgain(held.job.key)
  if (!file || file.endedMs !== null) {
    await held.complete({ status: 'skipped' })
    return
  }
  if (file.crashes >= work.settings.work.crashes) {
    const message = `The service died ${file.crashes} times with this file in work.`
    await endFailed(held, file, -1, new JobFailedError('ERR_FILE_FAILED', message, { errorCode: -1 }), work)
    return
  }
  if (file.crashes < SUSPICIOUS_CRASHES) await attempt(held, file, work)
  else await work.suspects.add(() => attempt(held, file, work), { signal: held.signal })
}

async function attempt(held: HeldJob, file: FileRecord, work: FileWork): Promise<void> {
  const claim = held.job.attempts
  const timeout = AbortSignal.timeout(work.settings.work.timeoutMs)
  work.files.takeUp(file.id, claim)
  try {
    await processFile(file, work, AbortSignal.any([held.signal, timeout]))
    await held.complete({ status: 'done' })
  } catch (thrown) {
    // The lease is lost or the node stops: the queue gives the job back, somebody else goes on.
    if (held.signal.aborted) throw new InterruptedError('The file is given back.', { cause: thrown })
    const code = timeout.aborted ? -12 : fileCodeOf(thrown)
    if (code === undefined && work.files.countFault(file.id) < work.settings.work.attempts)
      await tryAgain(held, file, thrown, work)
    else await endFailed(held, file, code ?? -1, thrown, work)
  } finally {
    work.files.putDown(file.id, claim)
  }
}

async function processFile(file: FileRecord, work: FileWork, signal: AbortSignal): Promise<void> {
  const { life, storage } = work
  await fetchSource(file, work, signal)
  // A blob store takes what it is sent: judged before all of it is fetched to this disk.
  if (((await storage.inputSize(file.id)) ?? 0) > work.settings.links.maxUploadBytes) throw fileFailure(-13, file)
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

async function tryAgain(held: HeldJob, file: FileRecord, thrown: unknown, work: FileWork): Promise<void> {
  const error = toVoxmuxError(thrown)
  work.logger.warn(logFields(file, error), 'A file failed and is tried again.')
  await held.retryAt(Date.now() + backoffMs(file.faults, 250, 10_000), errorReport(error))
}

async function endFailed(held: HeldJob, file: FileRecord, code: FileErrorCode, thrown: unknown, work: FileWork) {
  const error = toVoxmuxError(thrown)
  work.logger.warn({ ...logFields(file, error), errorCode: code }, 'A file failed.')
  // The record first: a crash in between leaves a job that finds its file ended.
  work.life.fail(file.id, code)
  await held.fail({ status: 'failed', error: errorReport(error) })
}

function logFields({ id: fileId, faults, crashes }: FileRecord, error: VoxmuxError) {
  return { fileId, code: error.code, faults, crashes, reason: redactText(error.message) }
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
