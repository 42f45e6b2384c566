import { constants } from 'node:fs'
import { chmod, copyFile, stat } from 'node:fs/promises'
import { basename, dirname, extname, join } from 'node:path'
import { addressBytes, safeAddress } from '../../../client/index.js'
import { JobFailedError, UsageError } from '../../../core/errors.js'
import { fileSha256, valueSha256 } from '../../../core/file-identity.js'
import { redactUrl } from '../../../core/redact.js'
import type { Job } from '../../../ledger/index.js'
import { probe } from '../../../media/index.js'
import { refusalError, runRules, subjectOfLink } from '../../../precheck/index.js'
import type { PipelineContext } from '../../context.js'
import { bareReceipt } from '../../output/bare-receipt.js'
import { type ExistingOutput, isTakenName, requireFilePath, wasPublishedBy } from '../../output/existing-output.js'
import { requireFreeNames, requireReplaceableOutput } from '../../output/files-beside.js'
import { withinFreeSpace } from '../../output/free-space.js'
import { outputExists } from '../../output/publish.js'
import type { Receipt } from '../../output/receipt.js'
import { requireWritableFolder } from '../../output/writable-folder.js'
import { recipeHash } from '../../plan/job-settings.js'
import { outputPath, receiptPath } from '../../plan/output-path.js'
import type { PlanRequest } from '../../plan/plan-job.js'
import { regenerateVoice } from '../../voice/regenerate-voice.js'
import { voiceOfAddress } from '../../voice/voice-requests.js'
import type { RegeneratedVoice } from '../../voice/voice-service.js'
import { lastingAddress } from '../../web-address.js'
import { withProofs } from '../assembly/with-proofs.js'
import type { Attempt, JobKind, ObtainedAudio, PlannedJob } from '../job-life.js'
import { linkValidSec } from './link-valid-sec.js'

/** The content of an address is not known here, and a second payment for the same file would be worse. */
const FETCHED_BEFORE =
  'The file of this address was regenerated before, and was not fetched again. If it has changed since, put it at ' +
  'another address. The new file is then paid for.'

/**
 * A job whose input the service fetches itself (`--remote`). The service gets the whole file and its result is the
 * output. The input is never read here, so nothing can be compared with it; the receipt reports that.
 */
export function remoteJob(request: PlanRequest, context: PipelineContext): JobKind {
  return {
    async plan(signal) {
      requireWhole(request)
      requireNoLimit(request, context)
      const name = basename(safeAddress(request.input, 'The input').pathname)
      requireLongLived(request, context)
      const output = await outputPath({
        input: join(request.cwd, name),
        output: request.output,
        extension: extname(name),
        label: 'regen',
        cwd: request.cwd,
      })
      return plannedAddress(request, { output, sizeBytes: await addressBytes(request.input, signal) }, context)
    },
  }
}

/** Facts about an address that are known before anything is sent. */
interface AddressFacts {
  readonly output: string
  /** Length of its file; null if the server does not say. */
  readonly sizeBytes: number | null
}

function plannedAddress(request: PlanRequest, facts: AddressFacts, context: PipelineContext): PlannedJob {
  const { settings } = request
  const { output } = facts
  const recipe = recipeHash(settings, context.serviceIdentity)
  const job = { request, facts, context, input: redactUrl(request.input) }
  return {
    ...{ input: job.input, output, inputIdentity: null, filePlan: null },
    ...{ replaces: settings.force, outputBytes: 0, workBytes: 0 },
    ...{ recipeHash: recipe, key: keyOf(job, output, recipe) },
    async existing(held, signal): Promise<ExistingOutput> {
      await requireFilePath(output)
      const found = await stat(output).catch(() => undefined)
      if (settings.force || !found) return { kind: 'none' }
      if (isTakenName(found, held)) return { kind: 'replaceable' }
      if (!(await wasPublishedBy(held, output, signal))) throw outputExists(output)
      requireLength(job, held)
      return { kind: 'done', receipt: receiptPath(output) }
    },
    async requireStartable() {
      // Only a certificate has a report, and nothing is signed: the input is not here.
      const names = { report: settings.recipe.qc !== null, sidecar: false }
      if (!settings.force) await requireFreeNames(output, names)
      await requireWritableFolder(dirname(output))
      await requireReplaceableOutput(output, names)
    },
    obtain: (attempt) => obtainAddress(job, attempt),
  }
}

/** An address with its facts, and its name without secrets. */
interface AddressJob {
  readonly request: PlanRequest
  readonly facts: AddressFacts
  readonly context: PipelineContext
  readonly input: string
}

function keyOf({ request, context }: AddressJob, output: string, recipe: string): string {
  const { sharedPath = (path: string) => path } = context
  return valueSha256({ address: lastingAddress(request.input), output: sharedPath(output), recipe })
}

/** @throws {JobFailedError} `ERR_INPUT_CHANGED` if an earlier job found a file of another length at the address */
function requireLength({ input, facts: { sizeBytes } }: AddressJob, earlier: Job | null | undefined): void {
  const before = earlier?.inputIdentity?.sizeBytes
  if (before !== undefined && sizeBytes !== null && before !== sizeBytes) throw otherFile(input, before, sizeBytes)
}

/** The file may be another one than the service fetched. Its length is all that can be compared. */
async function requireFetched(job: AddressJob): Promise<void> {
  const done = await job.context.jobs.list({ input: job.input, statuses: ['done'] })
  // The input has no query, so other files may share it.
  requireLength(
    job,
    done.find(
      ({ inputIdentity, key, output, recipeHash: recipe }) => inputIdentity && key === keyOf(job, output ?? '', recipe),
    ),
  )
}

/** Has the service fetch and regenerate the file, and takes its result as the output. */
async function obtainAddress(job: AddressJob, attempt: Attempt): Promise<ObtainedAudio> {
  const { request, facts, context } = job
  const { settings } = request
  const { bench, signal, waitUntilMs, onProgress } = attempt
  const fetched = join(bench.workFolder, `answer${extname(lastingAddress(request.input).pathname)}`)
  const voice = voiceOfAddress(request.input, { model: settings.recipe.voice.model, audioPath: fetched })
  const regenerated = await withinFreeSpace(bench.workFolder, 'The regenerated file', (maxBytes) =>
    regenerateVoice({ ...voice, maxBytes }, context, { signal, waitUntilMs, onProgress }),
  )
  const isSentNow = regenerated.timesMs.registered !== undefined
  if (!isSentNow) await requireFetched(job)
  return {
    async assemble() {
      await copyFile(fetched, bench.part, constants.COPYFILE_FICLONE)
      // The copy has the mode of the cache, which only its user may read.
      await chmod(bench.part, 0o666 & ~process.umask())
      if (regenerated.cached) context.logger.warn({ job: attempt.job.id }, FETCHED_BEFORE)
      const receipt = await remoteReceipt(request, context, { output: facts.output, attempt, regenerated })
      const { sizeBytes } = facts
      const inputIdentity = isSentNow && sizeBytes !== null ? { sizeBytes, mtimeMs: 0, sha256: null } : null
      return { receipt: await withProofs(receipt, settings, null, { bench, signal }), inputIdentity }
    },
  }
}

function otherFile(input: string, before: number, now: number): JobFailedError {
  const message = `The file at ${input} has ${now} bytes, and had ${before} when the service fetched it. Its earlier result would be wrong.`
  return new JobFailedError('ERR_INPUT_CHANGED', message, {
    input,
    remedies: [
      'Put the new file at another address. It is then fetched, and paid for.',
      'Or leave out --remote: voxmux then downloads the file and sees what changed.',
    ],
  })
}

/** @throws {PrecheckError} -17 if the link expires too soon for the service to fetch it */
function requireLongLived({ input }: PlanRequest, { limits }: PipelineContext): void {
  const verdicts = runRules(subjectOfLink(linkValidSec(input)), limits)
  const tooShort = verdicts.filter(({ errorCode }) => errorCode === -17)
  const refused = refusalError(redactUrl(input), tooShort)
  if (refused) throw refused
}

function requireWhole({ input, settings }: PlanRequest): void {
  const { segments, recipe, outputType, chunkSec, previewSec } = settings
  const partly = segments.length > 0 || chunkSec !== null || previewSec !== null || outputType !== null
  const oneTrack = !recipe.keepOriginal && !recipe.addTrack
  const asIs = recipe.track === 'only' && recipe.channels === 'auto' && oneTrack && recipe.mix === 100
  const listens = recipe.onlyNoisy || recipe.skipClean || recipe.bed !== 'keep'
  if (!partly && asIs && !listens) return
  throw new UsageError(
    'ERR_REMOTE_WHOLE',
    'With --remote the service processes the whole file, so no part, track, channel, mix, bed or noise can be chosen.',
    {
      input: redactUrl(input),
      remedies: ['Leave out --remote: voxmux then downloads the file and sends only the voice.'],
    },
  )
}

/** The length of the file is not known here, so its seconds could neither be counted nor kept within a limit. */
function requireNoLimit({ input }: PlanRequest, { maxSecondsPerDay }: PipelineContext): void {
  if (maxSecondsPerDay === null) return
  throw new UsageError(
    'ERR_REMOTE_LIMIT',
    'maxSecondsPerDay limits what is paid, but with --remote voxmux does not know how long the file is.',
    {
      input: redactUrl(input),
      remedies: [
        'Leave out --remote: voxmux then downloads the file and counts its voice.',
        'Remove maxSecondsPerDay from the configuration.',
      ],
    },
  )
}

async function remoteReceipt(
  { input, settings }: PlanRequest,
  context: PipelineContext,
  made: { readonly output: string; readonly attempt: Attempt; readonly regenerated: RegeneratedVoice },
): Promise<Receipt> {
  const { output, attempt, regenerated } = made
  const { part } = attempt.bench
  const media = await probe(part)
  const sha256 = await fileSha256(part)
  const fileNote = `The service fetched the file itself (file id ${regenerated.fileId}), so input and output were not compared.`
  return {
    ...(await bareReceipt({
      ...{ jobId: attempt.job.id, settings, context },
      recipeHash: recipeHash(settings, context.serviceIdentity),
    })),
    input: { path: redactUrl(input), sizeBytes: null, sha256: null, mtimeMs: null },
    output: { path: output, sizeBytes: media.sizeBytes, sha256, container: media.container },
    chapters: media.chapters.length,
    notes: [
      fileNote,
      ...(regenerated.cached ? [FETCHED_BEFORE] : []),
      ...(settings.signed ? ['It is not signed, because voxmux did not make it here.'] : []),
    ],
    verification: { level: 'fast', passed: true, checks: ['the regenerated file can be opened'] },
  }
}
