import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import type PQueue from 'p-queue'
import type { FileErrorCode } from '../../contract/index.js'
import { fileErrorCodeSchema, fileErrorInfo } from '../../contract/index.js'
import { errorReport, InterruptedError, JobFailedError, toVoxmuxError, VoxmuxError } from '../../core/errors.js'
import type { Logger } from '../../core/logger.js'
import { redactText } from '../../core/redact.js'
import { backoffMs } from '../../core/time.js'
import { type HeldJob, isLeaseLost, leaseLost } from '../../jobs/index.js'
import { type MediaInfo, probe } from '../../media/index.js'
import { downloadSource } from '../download/download-source.js'
import type { ServiceSettings } from '../service-settings.js'
import type { FileStorage } from '../storage/file-storage.js'
import type { FileRecord } from '../store/file-record.js'
import type { Files, TakenFile } from '../store/files.js'
import type { FileLife } from './file-life.js'
import { ProgressLine } from './progress-line.js'
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

/** The most that `randomInt` takes. */
const MAX_CLAIM = 2 ** 48 - 1

/** Does one accepted file to its end: fetched, checked, paid, processed, stored. Safe to be done again from the start. */
export async function workOnFile(held: HeldJob, work: FileWork): Promise<void> {
  const file = await work.files.findAgain(held.job.key)
  if (!file || file.endedMs !== null) {
    await held.complete({ status: 'skipped' })
    return
  }
  const isAlone = file.crashes >= SUSPICIOUS_CRASHES && file.crashes < work.settings.work.crashes
  if (!isAlone) await attempt(held, file, work)
  else await work.suspects.add(() => attempt(held, file, work), { signal: held.signal })
}

async function attempt(held: HeldJob, file: FileRecord, work: FileWork): Promise<void> {
  const taken: TakenFile = { id: file.id, claim: randomInt(MAX_CLAIM) }
  if (!(await work.files.takeUp(taken))) throw leaseLost(file.fileName)
  const timeout = AbortSignal.timeout(work.settings.work.timeoutMs)
  try {
    if (file.crashes >= work.settings.work.crashes) {
      await endFailed(held, file, taken, -1, diedTooOften(file), work)
      return
    }
    await processFile(file, taken, work, AbortSignal.any([held.signal, timeout]))
    await held.complete({ status: 'done' })
  } catch (thrown) {
    // The lease is lost or the node stops: the queue gives the job back, somebody else goes on.
    if (held.signal.aborted) throw new InterruptedError('The file is given back.', { cause: thrown })
    if (isLeaseLost(thrown)) throw thrown
    const code = timeout.aborted ? -12 : fileCodeOf(thrown)
    const faults = code === undefined ? await work.files.countFault(taken) : 0
    if (faults === undefined) throw leaseLost(file.fileName)
    if (code === undefined && faults < work.settings.work.attempts) await tryAgain(held, file, thrown, work)
    else await endFailed(held, file, taken, code ?? -1, thrown, work)
  } finally {
    await work.files.putDown(taken)
  }
}

async function processFile(file: FileRecord, taken: TakenFile, work: FileWork, signal: AbortSignal): Promise<void> {
  const { life, storage } = work
  await fetchSource(file, taken, work, signal)
  // A blob store takes what it is sent: judged before all of it is fetched to this disk.
  if (((await storage.inputSize(file.id)) ?? 0) > work.settings.links.maxUploadBytes) throw fileFailure(-13, file)
  // Its own: a worker that was frozen and goes on writes over nobody's bytes.
  const folder = await storage.workFolder(file.id)
  const lost = new AbortController()
  const until = AbortSignal.any([signal, lost.signal])
  const progress = new ProgressLine(
    (percent) => life.progress(taken, percent),
    (error) => {
      if (isLeaseLost(error)) lost.abort(error)
      else work.logger.warn({ err: error, fileId: file.id }, 'Progress could not be recorded.')
    },
  )
  try {
    const input = await storage.takeInput(file.id, folder, until)
    const media = await probe(input, { signal: until })
    await charge(file, taken, media, work.files)
    await life.begin(taken)
    const output = join(folder, 'output')
    const engine = await work.engine()
    const { extension } = await engine.processFile({
      input,
      output,
      ...(file.startSec !== null && { startSec: file.startSec }),
      ...(file.endSec !== null && { endSec: file.endSec }),
      ...(file.outputType !== null && { outputType: file.outputType }),
      signal: until,
      onProgress: (percent) => progress.tell(percent),
    })
    await progress.settled()
    until.throwIfAborted()
    // Asked again with the output whole on the disk: between this and its name lies no other work.
    await life.requireHold(taken)
    await storage.putOutput(file.id, extension, output, until)
    await life.succeed(taken, extension)
  } catch (error) {
    throw lost.signal.aborted ? lost.signal.reason : error
  } finally {
    await progress.settled()
    await storage.leaveWorkFolder(folder)
  }
}

async function fetchSource(file: FileRecord, taken: TakenFile, work: FileWork, signal: AbortSignal): Promise<void> {
  const { life, storage, settings, allowPrivateUrls } = work
  if (file.sourceUrl === null || (await storage.inputSize(file.id)) !== undefined) return
  await life.fetching(taken)
  const { maxUploadBytes: maxBytes, idleTimeoutMs } = settings.links
  await downloadSource(
    file.sourceUrl,
    { limits: settings.download, maxBytes, idleTimeoutMs, allowPrivateUrls, signal },
    (source, until) => storage.putInput(file.id, source, until),
  )
  await life.fetched(taken)
}

/** A credit is a second of audio; the part that is asked for is what is paid for. */
async function charge(file: FileRecord, taken: TakenFile, media: MediaInfo, files: Files): Promise<void> {
  const endSec = Math.min(file.endSec ?? Number.POSITIVE_INFINITY, media.durationSec ?? 0)
  const partSec = Math.max(0, endSec - (file.startSec ?? 0))
  const outcome = await files.charge(taken, partSec)
  if (outcome === 'lost') throw leaseLost(file.fileName)
  if (outcome === 'short') throw fileFailure(-10, file)
}

async function tryAgain(held: HeldJob, file: FileRecord, thrown: unknown, work: FileWork): Promise<void> {
  const error = toVoxmuxError(thrown)
  work.logger.warn(logFields(file, error), 'A file failed and is tried again.')
  await held.retryAt(Date.now() + backoffMs(file.faults, 250, 10_000), errorReport(error))
}

async function endFailed(
  held: HeldJob,
  file: FileRecord,
  taken: TakenFile,
  code: FileErrorCode,
  thrown: unknown,
  work: FileWork,
) {
  const error = toVoxmuxError(thrown)
  work.logger.warn({ ...logFields(file, error), errorCode: code }, 'A file failed.')
  // The record first: a crash in between leaves a job that finds its file ended.
  await work.life.fail(taken, code)
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

function diedTooOften({ crashes }: FileRecord): JobFailedError {
  const message = `The service died ${crashes} times with this file in work.`
  return new JobFailedError('ERR_FILE_FAILED', message, { errorCode: -1 })
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
