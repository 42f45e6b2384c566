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
import type { Attempt, JobKind, PlannedJob } from '../job-life.js'

/** `20260101T120000Z`, the format of Amazon and Google signatures. */
const BASIC_ISO = /^(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})Z$/

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

function plannedAddress(
  request: PlanRequest,
  { output, sizeBytes }: AddressFacts,
  context: PipelineContext,
): PlannedJob {
  const { settings } = request
  const address = lastingAddress(request.input)
  const recipe = recipeHash(settings, context.serviceIdentity)
  const { sharedPath = (path: string) => path } = context
  const input = redactUrl(request.input)
  const keyOf = (made: string, itsRecipe: string) =>
    valueSha256({ address, output: sharedPath(made), recipe: itsRecipe })
  const requireLength = (job: Pick<Job, 'inputIdentity'> | null | undefined) => {
    const before = job?.inputIdentity?.sizeBytes
    if (before !== undefined && sizeBytes !== null && before !== sizeBytes) throw otherFile(input, before, sizeBytes)
  }
  /** The file may be another one than the service fetched. Its length is all that can be compared. */
  const requireFetched = async () => {
    const done = await context.jobs.list({ input, statuses: ['done'] })
    // The input has no query, so other files may share it.
    requireLength(done.find((job) => job.inputIdentity && job.key === keyOf(job.output ?? '', job.recipeHash)))
  }
  return {
    ...{ input, output, recipeHash: recipe, inputIdentity: null, filePlan: null },
    ...{ replaces: settings.force, outputBytes: 0, workBytes: 0 },
    key: keyOf(output, recipe),
    async existing(job, signal): Promise<ExistingOutput> {
      await requireFilePath(output)
      const found = await stat(output).catch(() => undefined)
      if (settings.force || !found) return { kind: 'none' }
      if (isTakenName(found, job)) return { kind: 'replaceable' }
      if (await wasPublishedBy(job, output, signal)) {
        requireLength(job)
        return { kind: 'done', receipt: receiptPath(output) }
      }
      throw outputExists(output)
    },
    async requireStartable() {
      // Only a certificate has a report, and nothing is signed: the input is not here.
      const names = { report: settings.recipe.qc !== null, sidecar: false }
      if (!settings.force) await requireFreeNames(output, names)
      await requireWritableFolder(dirname(output))
      await requireReplaceableOutput(output, names)
    },
    async obtain(attempt) {
      const { bench, signal, waitUntilMs, onProgress } = attempt
      const fetched = join(bench.workFolder, `answer${extname(address.pathname)}`)
      const voice = voiceOfAddress(request.input, { model: settings.recipe.voice.model, audioPath: fetched })
      const regenerated = await withinFreeSpace(bench.workFolder, 'The regenerated file', (maxBytes) =>
        regenerateVoice({ ...voice, maxBytes }, context, { signal, waitUntilMs, onProgress }),
      )
      const isSentNow = regenerated.timesMs.registered !== undefined
      if (!isSentNow) await requireFetched()
      return {
        async assemble() {
          await copyFile(fetched, bench.part, constants.COPYFILE_FICLONE)
          // The copy has the mode of the cache, which only its user may read.
          await chmod(bench.part, 0o666 & ~process.umask())
          if (regenerated.cached) context.logger.warn({ job: attempt.job.id }, FETCHED_BEFORE)
          const receipt = await remoteReceipt(request, context, { output, attempt, regenerated })
          const inputIdentity = isSentNow && sizeBytes !== null ? { sizeBytes, mtimeMs: 0, sha256: null } : null
          return { receipt: await withProofs(receipt, settings, null, { bench, signal }), inputIdentity }
        },
      }
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

/**
 * Remaining validity of a signed link: Azure (`se`), Amazon and Google (`X-Amz-Date` with `X-Amz-Expires`, `X-Goog-…`),
 * and links with a Unix timestamp in `Expires`.
 *
 * @returns seconds, negative after expiry; null if the link does not contain its expiry
 */
export function linkValidSec(address: string, nowMs: number = Date.now()): number | null {
  const query = new Map([...new URL(address).searchParams].map(([name, value]) => [name.toLowerCase(), value]))
  const endMs = azureEnd(query) ?? signedEnd(query, 'x-amz') ?? signedEnd(query, 'x-goog') ?? plainEnd(query)
  return endMs === null || Number.isNaN(endMs) ? null : (endMs - nowMs) / 1000
}

type Query = ReadonlyMap<string, string>

function azureEnd(query: Query): number | null {
  const end = query.get('se')
  return end !== undefined && query.has('sig') ? Date.parse(end) : null
}

function signedEnd(query: Query, vendor: string): number | null {
  const [date, expires] = [query.get(`${vendor}-date`), query.get(`${vendor}-expires`)]
  const match = BASIC_ISO.exec(date ?? '')
  if (!match || expires === undefined) return null
  const [, year, month, day, hour, minute, second] = match.map(Number) as [number, ...number[]]
  return Date.UTC(year ?? 0, (month ?? 1) - 1, day, hour, minute, second) + Number(expires) * 1000
}

function plainEnd(query: Query): number | null {
  const expires = query.get('expires')
  return expires !== undefined && /^\d{9,11}$/.test(expires) ? Number(expires) * 1000 : null
}
