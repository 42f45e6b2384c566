import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { childAbort } from '../core/abort.js'
import { thrownMessage } from '../core/thrown-message.js'
import type { JobCheckpoint } from '../jobs/index.js'
import { measureEncoders, mux, verifyMux } from '../media/index.js'
import { assembleTrack } from './assemble-track.js'
import type { PipelineContext, StageProgress } from './context.js'
import { fileSha256, quickIdentity } from './file-identity.js'
import { type ObtainedVoices, obtainVoices } from './obtain-voices.js'
import type { Order } from './order.js'
import { requireOnDisk } from './output-disk.js'
import { receiptPath } from './output-path.js'
import { receiptPartPath, reportPartPath } from './part-file.js'
import { publish } from './publish.js'
import { type Receipt, writeReceipt } from './receipt.js'
import { receiptOf } from './receipt-of.js'
import { buildReport, publishReport, reportPath } from './report/write-report.js'

export interface ProduceOptions {
  readonly signal: AbortSignal
  /** See `JobRunOptions`. */
  readonly waitUntilMs: number | undefined
  readonly tell: StageProgress
  /** Writes into the ledger; throws when the job is another's by now. */
  readonly checkpoint: (checkpoint: JobCheckpoint) => Promise<unknown>
}

/**
 * The work of a job, from cut to published file and receipt. The ledger knows the part's SHA-256 and its receipt
 * before the name is given, so that a file found after a crash is adopted.
 */
export async function produce(order: Order, context: PipelineContext, options: ProduceOptions): Promise<Receipt> {
  const { plan, settings, job, part } = order
  const { signal, tell } = options
  // A fault of it is met by the mux.
  measureEncoders(plan.mux).catch(() => {})
  const { voices, inputSha256 } = await voicesAndHash(order, context, options)
  const requireSameDisk = () => requireOnDisk(dirname(plan.output), order.outputDisk)
  await requireSameDisk()
  const { outputSha256, ...proven } = await context.slots.local.run(() => makePart(order, voices, options), signal)
  const made = await receiptOf({
    ...{ order, context, voices, inputSha256, ...proven },
    output: { path: plan.output, sizeBytes: (await stat(part)).size, sha256: outputSha256 },
  })
  const receipt = settings.report ? await withReport(made, order, options) : made
  const inputIdentity = { ...(await quickIdentity(plan.media.path)), sha256: inputSha256 }
  const method = await publish(part, plan.output, {
    replace: order.replace,
    mayPublish: async () => {
      await requireSameDisk()
      await options.checkpoint({ publishedSha256: outputSha256, inputIdentity, state: { receipt } })
    },
  })
  if (receipt.report !== null) await publishReport(reportPartPath(plan.output, job.id), plan.output)
  const published = { ...receipt, publish: method }
  await writeReceipt(receiptPath(plan.output), published, receiptPartPath(plan.output, job.id))
  await requireSameDisk()
  await options.checkpoint({ state: { outputMtimeMs: Math.round((await stat(plan.output)).mtimeMs) } })
  tell('publish', 100)
  return published
}

/** Writes the part file and proves it. */
async function makePart(order: Order, voices: ObtainedVoices, { signal, tell }: ProduceOptions) {
  const { plan, settings, part, workFolder } = order
  const tracks = await Promise.all(
    plan.tracks.map((track) => {
      const own = voices.pieces.filter((piece) => piece.plan.audioIndex === track.stream.audioIndex)
      return assembleTrack(plan.media, track, own, { recipe: settings.recipe, signal })
    }),
  )
  tell('splice', 100)
  const streams = new Map(tracks.map(({ audioIndex, stream }) => [audioIndex, stream]))
  const muxed = await mux(plan.mux, streams, part, {
    signal,
    workFolder,
    onProgressSec: (sec) => tell('mux', (100 * sec) / (plan.media.durationSec ?? sec)),
  })
  tell('mux', 100)
  const [verification, outputSha256] = await Promise.all([
    verifyMux(plan.mux, muxed, part, { level: settings.recipe.verify, signal }),
    fileSha256(part, signal),
  ])
  tell('verify', 100)
  return { tracks, muxed, verification, outputSha256 }
}

/** Builds the page that compares. What is paid for and proven is not thrown away where it cannot be made. */
async function withReport(
  receipt: Receipt,
  { plan, job, part, workFolder }: Order,
  { signal }: ProduceOptions,
): Promise<Receipt> {
  const report = reportPath(plan.output)
  try {
    await buildReport({ ...receipt, report }, reportPartPath(plan.output, job.id), {
      ...{ before: plan.media, after: { path: part }, durationSec: plan.media.durationSec, workFolder, signal },
    })
    return { ...receipt, report }
  } catch (error) {
    if (signal.aborted) throw error
    const why = thrownMessage(error)
    return { ...receipt, notes: [...receipt.notes, `The report could not be made: ${why}`] }
  }
}

/** The input is hashed beside the cut, while its pages are in memory: one reading of the disk serves both. */
async function voicesAndHash(
  { plan, settings, workFolder }: Order,
  context: PipelineContext,
  { signal, waitUntilMs, tell }: ProduceOptions,
): Promise<{ voices: ObtainedVoices; inputSha256: string }> {
  const { controller, release } = childAbort(signal)
  try {
    const [voices, inputSha256] = await Promise.all([
      obtainVoices({ plan, settings, workFolder, signal: controller.signal, waitUntilMs, tell }, context),
      context.slots.local.run(() => fileSha256(plan.media.path, controller.signal), controller.signal),
    ])
    return { voices, inputSha256 }
  } catch (error) {
    controller.abort(error)
    throw error
  } finally {
    release()
  }
}
