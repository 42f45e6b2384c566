import { join } from 'node:path'
import PQueue from 'p-queue'
import { childAbort } from '../core/abort.js'
import { filteredPcm } from '../media/answer-pcm.js'
import { alignVoice, cutVoice, measureLoudness } from '../media/index.js'
import type { VoiceCut } from '../media/voice-cut.js'
import type { AlignedPiece } from './assemble-track.js'
import type { PipelineContext, StageProgress } from './context.js'
import type { JobSettings } from './job-settings.js'
import { cutRequests, type JobPlan } from './plan-job.js'
import type { PiecePlan } from './plan-tracks.js'
import { type RegeneratedVoice, regenerateVoice } from './regenerate-voice.js'
import { cutOrder } from './voice-orders.js'

/** A voice from cut to answer. */
export interface ObtainedVoice extends AlignedPiece {
  readonly regenerated: RegeneratedVoice
}

export interface ObtainOptions {
  readonly plan: JobPlan
  readonly settings: JobSettings
  readonly workFolder: string
  readonly signal: AbortSignal
  readonly tell: StageProgress
}

/**
 * Cuts the voices of a job in one reading, has each regenerated, and measures how the answers line up. The first
 * fault ends the others' waiting; what the service has begun is found again by the next run.
 */
export async function obtainVoices(
  options: ObtainOptions,
  context: PipelineContext,
): Promise<readonly ObtainedVoice[]> {
  const { plan, workFolder, tell } = options
  const pieces = plan.tracks.flatMap((track) => track.pieces)
  const cuts = await cutVoice(plan.media, cutRequests(plan, workFolder), {
    signal: options.signal,
    onProgressSec: (sec) => tell('cut', (100 * sec) / (plan.media.durationSec ?? sec)),
  })
  tell('cut', 100)
  const { controller, release } = childAbort(options.signal)
  const queue = new PQueue({ concurrency: context.voiceConcurrency })
  const progress = new JointProgress(cuts.length, tell)
  try {
    return await Promise.all(
      pieces.map((piece, index) =>
        queue.add(() =>
          obtain(piece, cuts[index] as VoiceCut, index, progress, { ...options, signal: controller.signal }, context),
        ),
      ),
    )
  } catch (error) {
    controller.abort(error)
    await queue.onIdle()
    throw error
  } finally {
    release()
  }
}

async function obtain(
  piece: PiecePlan,
  cut: VoiceCut,
  index: number,
  progress: JointProgress,
  options: ObtainOptions,
  context: PipelineContext,
): Promise<ObtainedVoice> {
  const { settings, plan, workFolder, signal } = options
  const { model, outputType } = settings.recipe.voice
  const wanted = outputType === 'lossless' ? cut.format : outputType
  const order = cutOrder(plan.media.path, cut, {
    model,
    outputType: wanted,
    answerPath: join(workFolder, `answer-${index}.${wanted}`),
  })
  const regenerating = regenerateVoice(order, context, {
    signal,
    onProgress: (stage, percent) => progress.tell(index, stage, percent),
  })
  // Measured while the service works: nothing waits for it.
  const [regenerated, sentLoudness] = await Promise.all([regenerating, wholeTrackLoudness(piece, cut, signal)])
  for (const stage of ['upload', 'process', 'download'] as const) progress.tell(index, stage, 100)
  const alignment = await alignVoice(cut, regenerated.path, { signal })
  progress.tell(index, 'align', 100)
  return { plan: piece, cut, alignment, sentLoudness, regenerated }
}

async function wholeTrackLoudness(
  { channels, cut: { startSample, endSample } }: PiecePlan,
  cut: VoiceCut,
  signal: AbortSignal,
) {
  if (channels.kind === 'one' || startSample !== 0 || endSample !== null) return null
  return measureLoudness(
    filteredPcm({ path: cut.path, filters: [], format: { ...cut, sample: 'f32' }, seeksExactly: true, signal }),
  )
}

type JointStage = 'upload' | 'process' | 'download' | 'align'

/** The progress of several voices as one: the mean, stage by stage. */
class JointProgress {
  readonly #count: number
  readonly #tell: StageProgress
  readonly #percents = new Map<JointStage, number[]>()

  constructor(count: number, tell: StageProgress) {
    this.#count = count
    this.#tell = tell
  }

  tell(index: number, stage: JointStage, percent: number): void {
    const percents = this.#percents.get(stage) ?? new Array<number>(this.#count).fill(0)
    percents[index] = percent
    this.#percents.set(stage, percents)
    this.#tell(stage, percents.reduce((sum, value) => sum + value, 0) / this.#count)
  }
}
