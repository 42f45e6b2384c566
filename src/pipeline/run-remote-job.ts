import { constants } from 'node:fs'
import { copyFile, rm, stat } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'
import { safeAddress } from '../client/index.js'
import { toVoxmuxError, UsageError } from '../core/errors.js'
import { redactUrl } from '../core/redact.js'
import { voxmuxVersion } from '../core/version.js'
import type { HeldJob } from '../jobs/index.js'
import { findFfmpeg, probe } from '../media/index.js'
import { refusalError, runRules, subjectOfLink } from '../precheck/index.js'
import { clearStale } from './clear-stale.js'
import type { JobRunOptions, PipelineContext } from './context.js'
import { requireFilePlace, wasPublishedBy } from './existing-output.js'
import { fileSha256 } from './file-identity.js'
import { type JobOutcome, outcomeOfError } from './job-outcome.js'
import { recipeHash } from './job-settings.js'
import { linkValidSec } from './link-expiry.js'
import { outputPath, receiptPath } from './output-path.js'
import { partPath, receiptPartPath, requireWritableFolder } from './part-file.js'
import type { PlanRequest } from './plan-job.js'
import { outputExists, publish } from './publish.js'
import { type Receipt, readReceipt, writeReceipt } from './receipt.js'
import { regenerateVoice } from './regenerate-voice.js'
import { addressOrder } from './voice-orders.js'
import type { RegeneratedVoice } from './voice-service.js'
import { makeWorkFolder } from './work-folder.js'

export interface RemoteJobOptions extends JobRunOptions {
  /** The job in hand, where a store has it: what it publishes is in the ledger first, and known after a crash. */
  readonly held?: Pick<HeldJob, 'job' | 'checkpoint'> | undefined
}

/**
 * Runs a job whose input the service fetches by itself (`--remote`): the whole file goes to the service and its
 * answer is the output. Nothing of the input is seen here, so nothing can be compared with it; the receipt says so.
 */
export async function runRemoteJob(
  request: PlanRequest,
  context: PipelineContext,
  options: RemoteJobOptions = {},
): Promise<JobOutcome> {
  const input = redactUrl(request.input)
  const id = request.provisionalId
  try {
    const { output, receipt } = await fetchRemotely(request, context, options)
    const event = { ...{ event: 'file' as const, id, input, status: 'done' as const, output }, error: null }
    const outcome = { event: { ...event, receipt: receiptPath(output) }, error: null, receipt }
    options.onEvent?.(outcome.event)
    return outcome
  } catch (thrown) {
    const outcome = outcomeOfError({ id, input }, toVoxmuxError(thrown, input))
    options.onEvent?.(outcome.event)
    return outcome
  }
}

async function fetchRemotely(
  request: PlanRequest,
  context: PipelineContext,
  options: RemoteJobOptions,
): Promise<{ readonly output: string; readonly receipt: Receipt | null }> {
  const { settings, provisionalId: id } = request
  requireWhole(request)
  const input = redactUrl(request.input)
  const name = basename(safeAddress(request.input, 'The input').pathname)
  const verdicts = runRules(subjectOfLink(linkValidSec(request.input)), context.limits)
  const refused = refusalError(
    input,
    verdicts.filter(({ errorCode }) => errorCode === -17),
  )
  if (refused) throw refused
  const output = await outputPath({
    input: join(request.cwd, name),
    output: request.output,
    extension: extname(name),
    label: 'regen',
    cwd: request.cwd,
  })
  const { held, signal } = options
  // As the job was claimed: what it writes down from now on is not published yet.
  const claimed = held?.job ?? null
  const adopted = async () => {
    if (await wasPublishedBy(claimed, output, signal))
      return { output, receipt: (await readReceipt(receiptPath(output))) ?? null }
    throw outputExists(output)
  }
  await requireFilePlace(output)
  if (!settings.force && (await stat(output).catch(() => undefined))) return adopted()
  await requireWritableFolder(dirname(output))
  await clearStale(output, id, context)
  const part = partPath(output, id)
  const workFolder = await makeWorkFolder(context.stateDir, id)
  try {
    const answerPath = join(workFolder, `answer${extname(name)}`)
    const order = addressOrder(request.input, { model: settings.recipe.voice.model, answerPath })
    const regenerated = await regenerateVoice(order, context, {
      signal,
      onProgress: (stage, percent) =>
        options.onEvent?.({ event: 'progress', id, input, stage, percent: Math.floor(percent) }),
    })
    await copyFile(answerPath, part, constants.COPYFILE_FICLONE)
    const receipt = await remoteReceipt(request, context, { output, part, regenerated })
    const mayPublish = async () =>
      held?.checkpoint({ output, publishedSha256: receipt.output.sha256, state: { receipt } })
    const method = await publish(part, output, { replace: settings.force, mayPublish }).catch((error) => {
      if (error instanceof UsageError && error.code === 'ERR_OUTPUT_EXISTS') return null
      throw error
    })
    if (method === null) return await adopted()
    const published = { ...receipt, publish: method }
    await writeReceipt(receiptPath(output), published, receiptPartPath(output, id))
    return { output, receipt: published }
  } finally {
    await rm(part, { force: true })
    await rm(workFolder, { recursive: true, force: true })
  }
}

function requireWhole({ input, settings }: PlanRequest): void {
  const { segments, recipe, outputType, chunkSec, previewSec } = settings
  const partly = segments.length > 0 || chunkSec !== null || previewSec !== null || outputType !== null
  if (!partly && recipe.track === 'only' && recipe.channels === 'auto' && !recipe.keepOriginal) return
  throw new UsageError('ERR_REMOTE_WHOLE', 'With --remote the service gets the file whole: it cannot be taken apart.', {
    input: redactUrl(input),
    remedies: ['Leave --remote out: the file is then downloaded and only the voice is sent.'],
  })
}

async function remoteReceipt(
  { input, settings, provisionalId }: PlanRequest,
  context: PipelineContext,
  { output, part, regenerated }: { output: string; part: string; regenerated: RegeneratedVoice },
): Promise<Receipt> {
  const media = await probe(part)
  return {
    schemaVersion: 1,
    voxmux: voxmuxVersion(),
    job: provisionalId,
    createdAt: new Date().toISOString(),
    input: { path: redactUrl(input), sizeBytes: null, sha256: null, mtimeMs: null },
    output: { path: output, sizeBytes: media.sizeBytes, sha256: await fileSha256(part), container: media.container },
    preset: settings.preset,
    recipeHash: recipeHash(settings, context.serviceIdentity),
    segments: [],
    streams: [],
    chapters: media.chapters.length,
    losses: [],
    notes: [`The service fetched the file itself (file id ${regenerated.fileId}): nothing here could compare the two.`],
    tracks: [],
    voices: [],
    service: {
      identity: context.serviceIdentity,
      address: context.serviceAddress,
      model: settings.recipe.voice.model,
    },
    verification: { level: 'fast', passed: true, checks: ['the answer can be opened'] },
    report: null,
    publish: null,
    ffmpeg: { version: (await findFfmpeg()).version, runs: [] },
  }
}
