import PQueue from 'p-queue'
import { linkedAbort } from '../../core/abort.js'
import { PendingError, type PrecheckError, type VoxmuxError } from '../../core/errors.js'
import { type CutOptions, cutVoice, type Loudness, measureLoudness, readPcmFile } from '../../media/index.js'
import type { SampleRange, VoiceCut } from '../../media/voice-cut.js'
import { DEFAULT_SERVICE_LIMITS, type Limits, refusalError, runRules, subjectOfSound } from '../../precheck/index.js'
import { type PipelineContext, percentBeforeEnd, type StageProgress } from '../context.js'
import { cutRequests } from '../plan/plan-job.js'
import type { PiecePlan } from '../plan/plan-tracks.js'
import { meanProgress } from './mean-progress.js'
import { type ObtainChunkOptions, type ObtainedChunk, obtainChunk } from './obtain-chunk.js'
import { type PreparedPiece, preparePiece } from './prepare-piece.js'

/** A piece of a track whose regenerated audio lines up with the voice that was sent. */
export interface ObtainedPiece {
  readonly plan: PiecePlan
  /** The sent range, handles included, in samples of the track. */
  readonly range: SampleRange
  /** Chunks in order, each overlapping the next; usually a single one. */
  readonly chunks: readonly ObtainedChunk[]
  /** Joins between the chunks, in samples of the track. */
  readonly joins: readonly number[]
  /** That of the sent voice if it is the whole track; otherwise null. */
  readonly sentLoudness: Promise<Loudness | null>
}

/** A piece that was not sent, with the reason. */
export type LeftPiece = Extract<PreparedPiece, { kind: 'leave' }>

export interface ObtainedVoices {
  readonly pieces: readonly ObtainedPiece[]
  readonly left: readonly LeftPiece[]
}

export interface ObtainOptions extends Omit<ObtainChunkOptions, 'onVoiceless' | 'onProgress'> {
  readonly workFolder: string
  /** See `CutOptions`. */
  readonly beside: CutOptions['beside']
  readonly onProgress: StageProgress
}

/**
 * Cuts the voices of a job in one pass, divides long ones, has each part regenerated, and aligns the results. The first
 * fault stops the waiting for all. The next run finds whatever the service has begun. A job that must leave instead of
 * waiting leaves once every part has been started.
 */
export async function obtainVoices(options: ObtainOptions, context: PipelineContext): Promise<ObtainedVoices> {
  const prepared = await context.slots.local.run(() => preparePieces(options), options.signal)
  const sent = prepared.filter((piece) => piece.kind === 'send')
  const isSilent = sent.length === 0 && prepared.some((piece) => piece.kind === 'leave' && piece.why === 'silent')
  if (isSilent) requireSound(options.plan.media.path)
  const limits = options.settings.recipe.voice.requireVoice
    ? { ...context.limits, requireVoice: true }
    : // The detector of the embedded service is this one, so it would refuse the same.
      context.isEmbedded && DEFAULT_SERVICE_LIMITS
  const cuts = sent.flatMap((piece) => piece.cuts)
  if (limits) await requireVoice(options, cuts, limits)
  const { controller, release } = linkedAbort(options.signal)
  const queue = new PQueue({ concurrency: context.voiceConcurrency })
  const partProgress = meanProgress(
    sent.reduce((sum, { cuts }) => sum + cuts.length, 0),
    options.onProgress,
  )
  const own = { ...options, signal: controller.signal }
  const left: PendingError[] = []
  const voiceless: VoxmuxError[] = []
  const leave = (error: unknown): ObtainedChunk[] => {
    if (!(error instanceof PendingError)) throw error
    left.push(error)
    return []
  }
  try {
    const pieces = await Promise.all(
      sent.map(async ({ plan, range, cuts, joins, loudness }): Promise<ObtainedPiece> => {
        const isOneOfSeveral = cuts.length > 1 || plan.whenSilent === 'leave'
        const onVoiceless = isOneOfSeveral ? (error: VoxmuxError) => void voiceless.push(error) : null
        // While the service works: the encoder of the mux leaves no time later. A fault shows in the receipt.
        const sentLoudness = wholeTrackLoudness(plan, cuts[0], loudness, own.signal)
        sentLoudness.catch(() => {})
        const chunks = await Promise.all(
          cuts.map((cut) =>
            queue.add(() =>
              obtainChunk(cut, { ...own, onVoiceless, onProgress: partProgress() }, context).then(
                (chunk) => [chunk],
                leave,
              ),
            ),
          ),
        )
        return { plan, range, chunks: chunks.flat(), joins, sentLoudness }
      }),
    )
    if (left[0]) throw left[0]
    // No part contains a voice. A copy of the file must not be published as regenerated.
    if (voiceless[0] && pieces.every(({ chunks }) => chunks.every(({ regenerated }) => !regenerated)))
      throw voiceless[0]
    return { pieces, left: prepared.filter((piece) => piece.kind === 'leave') }
  } catch (error) {
    controller.abort(error)
    await queue.onIdle()
    throw error
  } finally {
    release()
  }
}

async function preparePieces({
  plan,
  workFolder,
  beside,
  onProgress,
  signal,
}: ObtainOptions): Promise<readonly PreparedPiece[]> {
  const pieces = plan.tracks.flatMap((track) => track.pieces)
  const cuts = await cutVoice(plan.media, cutRequests(plan, workFolder), {
    signal,
    beside,
    onProgressSec: (sec) => onProgress('cut', percentBeforeEnd(sec, plan.media.durationSec)),
  })
  const prepared: PreparedPiece[] = []
  for (const [index, piece] of pieces.entries()) {
    prepared.push(await preparePiece(piece, cuts[index] as VoiceCut, piece.chunks, { signal }))
  }
  onProgress('cut', 100)
  return prepared
}

/** Refuses a job in which every channel is silent, because its output would be a copy. */
function requireSound(input: string): void {
  const verdicts = runRules(subjectOfSound(0), { requireVoice: true })
  const refusal = refusalError(
    input,
    verdicts.filter(({ errorCode }) => errorCode === -3),
  )
  if (refusal) throw refusal
}

/** Refuses a job without a voice in any of its cuts. A detector can be wrong, so a remote service decides by itself. */
async function requireVoice({ plan, signal }: ObtainOptions, cuts: readonly VoiceCut[], limits: Limits): Promise<void> {
  const { noVoiceVerdicts } = await import('./no-voice-verdicts.js')
  let refusal: PrecheckError | undefined
  for (const { path, channels, pcm } of cuts) {
    const verdicts = await noVoiceVerdicts({ path, channels, pcm, audioIndex: 0 }, limits, signal)
    refusal = refusalError(plan.media.path, verdicts)
    if (!refusal) return
  }
  if (refusal) throw refusal
}

async function wholeTrackLoudness(
  { channels, cut: { startSample, endSample } }: PiecePlan,
  cut: VoiceCut | undefined,
  known: Loudness | null,
  signal: AbortSignal,
): Promise<Loudness | null> {
  if (cut === undefined || channels.kind === 'one' || startSample !== 0 || endSample !== null) return null
  return known ?? measureLoudness(readPcmFile(cut.pcm, { signal }))
}
