import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import type PQueue from 'p-queue'
import { type FileErrorCode, fileErrorCodeSchema, fileErrorInfo } from '../../contract/index.js'
import {
  errorReport,
  InterruptedError,
  JobFailedError,
  PrecheckError,
  toVoxmuxError,
  VoxmuxError,
} from '../../core/errors.js'
import type { Logger } from '../../core/logger.js'
import { redactText } from '../../core/redact.js'
import { backoffMs } from '../../core/time.js'
import { type HeldJob, isLeaseLost, leaseLost } from '../../ledger/index.js'
import type { Limits } from '../../precheck/index.js'
import { downloadSource } from '../download/download-source.js'
import { fileError } from '../engine/file-error.js'
import type { ServiceSettings } from '../service-settings.js'
import type { FileStorage } from '../storage/file-storage.js'
import type { Accounts } from '../store/accounts.js'
import type { FileRecord } from '../store/file-record.js'
import type { ClaimedFile, Files } from '../store/files.js'
import type { FileEngine } from './file-engine.js'
import type { FileLife } from './file-life.js'
import { judgeInput } from './judge-input.js'
import { progressLine } from './progress-line.js'

export interface FileRunContext {
  readonly files: Files
  readonly accounts: Accounts
  readonly limits: Limits
  readonly life: FileLife
  readonly storage: FileStorage
  readonly engine: () => Promise<FileEngine>
  /** Runs one file at a time. */
  readonly suspects: PQueue
  readonly settings: ServiceSettings
  readonly allowPrivateUrls: boolean
  /** Called with a fault of this node before its file is retried or ends with -1. */
  readonly onFault: (error: VoxmuxError) => void
  readonly logger: Logger
}

/**
 * Number of crashes after which a file waits until no other such file is in progress. The file that kills its node is
 * then the only one whose crash is counted, and the others succeed.
 */
const SUSPICIOUS_CRASHES = 2

/** The largest value that `randomInt` accepts. */
const MAX_CLAIM = 2 ** 48 - 1

/** Takes one accepted file to its end: download, check, charge, process, store. Safe to restart from the beginning. */
export async function runFile(held: HeldJob, context: FileRunContext): Promise<void> {
  const file = await context.files.findForRetry(held.job.key)
  if (!file || file.endedMs !== null) {
    await held.complete({ status: 'skipped' })
    return
  }
  const isAlone = file.crashes >= SUSPICIOUS_CRASHES && file.crashes < context.settings.work.crashes
  if (!isAlone) await attempt(held, file, context)
  else await context.suspects.add(() => attempt(held, file, context), { signal: held.signal })
}

/** One try of a file, which this node alone has claimed. */
interface Attempt {
  readonly held: HeldJob
  readonly file: FileRecord
  readonly claimed: ClaimedFile
}

async function attempt(held: HeldJob, file: FileRecord, context: FileRunContext): Promise<void> {
  const claimed: ClaimedFile = { id: file.id, claim: randomInt(MAX_CLAIM) }
  if (!(await context.files.claim(claimed))) throw leaseLost(file.fileName)
  const current: Attempt = { held, file, claimed }
  const timeout = AbortSignal.timeout(context.settings.work.timeoutMs)
  try {
    if (file.crashes >= context.settings.work.crashes) {
      await endFailed(current, -1, crashedTooOften(file), context)
      return
    }
    await processClaimed(current, context, AbortSignal.any([held.signal, timeout]))
    await held.complete({ status: 'done' })
  } catch (thrown) {
    // The lease is lost or the node stops: the queue takes the job back, and another worker continues.
    if (held.signal.aborted) throw new InterruptedError('The file goes back to the queue.', { cause: thrown })
    if (isLeaseLost(thrown)) throw thrown
    const code = timeout.aborted ? -12 : fileCodeOf(thrown)
    if (code === undefined) context.onFault(toVoxmuxError(thrown))
    const faults = code === undefined ? await context.files.countFault(claimed) : 0
    if (faults === undefined) throw leaseLost(file.fileName)
    if (code === undefined && faults < context.settings.work.attempts) await tryAgain(held, file, thrown, context)
    else await endFailed(current, code ?? -1, thrown, context)
  } finally {
    await context.files.release(claimed)
  }
}

async function processClaimed(current: Attempt, context: FileRunContext, signal: AbortSignal): Promise<void> {
  const { file, claimed } = current
  const { life, storage } = context
  await fetchSource(current, context, signal)
  // A blob store accepts any size, so check it before the download to this disk.
  if (((await storage.inputSize(file.id)) ?? 0) > context.settings.links.maxUploadBytes) throw fileFailure(-13, file)
  // A folder per worker: a worker that was frozen and resumes cannot overwrite another's bytes.
  const folder = await storage.workFolder(file.id)
  const lost = new AbortController()
  const until = AbortSignal.any([signal, lost.signal])
  const progress = progressLine(
    (percent) => life.progress(claimed, percent),
    (error) => {
      if (isLeaseLost(error)) lost.abort(error)
      else
        context.logger.warn(
          { err: error, fileId: file.id },
          'Progress could not be recorded. The file is still being processed.',
        )
    },
  )
  try {
    const input = await storage.takeInput(file.id, folder, until)
    const credits = (await context.accounts.byId(file.userId))?.creditsSec ?? null
    const creditsSec = file.chargedMs > 0 ? null : credits
    const judging = { limits: context.limits, creditsSec, signal: until }
    const { media, soundMs, endSec } = await judgeInput(input, file, judging)
    await charge(file, claimed, soundMs, context.files)
    await life.begin(claimed)
    const output = join(folder, 'output')
    const engine = await context.engine()
    const { extension } = await engine.processFile({
      input,
      media,
      output,
      startSec: file.startSec ?? undefined,
      endSec,
      outputType: file.outputType ?? undefined,
      signal: until,
      onProgress: (percent) => progress.tell(percent),
    })
    await progress.settled()
    until.throwIfAborted()
    // Check again with the output complete on disk: nothing else happens between this and its rename.
    await life.requireHold(claimed)
    await storage.putOutput(file.id, extension, output, until)
    await life.succeed(claimed, extension)
  } catch (error) {
    throw lost.signal.aborted ? lost.signal.reason : error
  } finally {
    await progress.settled()
    await storage.leaveWorkFolder(folder)
  }
}

async function fetchSource({ file, claimed }: Attempt, context: FileRunContext, signal: AbortSignal): Promise<void> {
  const { life, storage, settings, allowPrivateUrls } = context
  if (file.sourceUrl === null || (await storage.inputSize(file.id)) !== undefined) return
  await life.fetching(claimed)
  const { maxUploadBytes: maxBytes, idleTimeoutMs } = settings.links
  await downloadSource(
    file.sourceUrl,
    { limits: settings.download, maxBytes, idleTimeoutMs, allowPrivateUrls, signal },
    (source, until) => storage.putInput(file.id, source, until),
  )
  await life.fetched(claimed)
}

/** Charges a file. One credit is one second of sound, and only the requested part is charged. */
async function charge(file: FileRecord, claimed: ClaimedFile, soundMs: number, files: Files): Promise<void> {
  const outcome = await files.charge(claimed, soundMs)
  if (outcome === 'lost') throw leaseLost(file.fileName)
  if (outcome === 'short') throw fileFailure(-10, file)
}

async function tryAgain(held: HeldJob, file: FileRecord, thrown: unknown, context: FileRunContext): Promise<void> {
  const error = toVoxmuxError(thrown)
  context.logger.warn(logFields(file, error), 'A file failed. It will be retried.')
  await held.retryAt(Date.now() + backoffMs(file.faults, 250, 10_000), errorReport(error))
}

async function endFailed(
  { held, file, claimed }: Attempt,
  code: FileErrorCode,
  thrown: unknown,
  context: FileRunContext,
) {
  const error = toVoxmuxError(thrown)
  context.logger.warn({ ...logFields(file, error), errorCode: code }, 'A file failed.')
  // The record first: after a crash in between, the job finds its file ended.
  await context.life.fail(claimed, code)
  await held.fail({ status: 'failed', error: errorReport(error) })
}

function logFields({ id: fileId, faults, crashes }: FileRecord, error: VoxmuxError) {
  return { fileId, code: error.code, faults, crashes, reason: redactText(error.message) }
}

/** The file error code that an error carries; undefined for a fault of the service. */
function fileCodeOf(thrown: unknown): FileErrorCode | undefined {
  if (!(thrown instanceof VoxmuxError)) return undefined
  const parsed = fileErrorCodeSchema.safeParse(thrown.errorCode)
  // -1 and 0 are not verdicts on a file.
  if (parsed.success && parsed.data < -1) return parsed.data
  if (thrown.code === 'ERR_CLOCK_JUMPS') return -2
  // A check refused the file for a reason without a code in the interface.
  return thrown instanceof PrecheckError ? -9 : undefined
}

function crashedTooOften({ crashes }: FileRecord): JobFailedError {
  const message = `The service crashed ${crashes} times while it processed this file.`
  return new JobFailedError('ERR_FILE_FAILED', message, { errorCode: -1 })
}

function fileFailure(code: FileErrorCode, file: FileRecord): JobFailedError {
  return fileError(code, 'ERR_FILE_FAILED', fileErrorInfo(code).meaning, { input: file.fileName })
}
