import { voxmuxVersion } from '../core/version.js'
import { findFfmpeg, type MuxResult, type MuxVerification } from '../media/index.js'
import type { AssembledTrack } from './assemble-track.js'
import type { PipelineContext } from './context.js'
import { quickIdentity } from './file-identity.js'
import type { ObtainedVoice } from './obtain-voices.js'
import type { Order } from './order.js'
import type { Receipt, TrackRecord, VoiceRecord } from './receipt.js'
import { closeRange } from './segments.js'

const UNKNOWN = { integratedLufs: null, rangeLu: null, truePeakDbtp: null }
const UNKNOWN_LOUDNESS = { before: UNKNOWN, after: UNKNOWN }

/** Everything that a receipt is made of. */
export interface ReceiptParts {
  readonly order: Order
  readonly context: PipelineContext
  readonly voices: readonly ObtainedVoice[]
  readonly tracks: readonly AssembledTrack[]
  readonly muxed: MuxResult
  readonly verification: MuxVerification
  readonly inputSha256: string
  readonly output: { readonly path: string; readonly sizeBytes: number; readonly sha256: string }
}

/** Writes down what was done to a file, before it is published (`publish` is not known yet). */
export async function receiptOf(parts: ReceiptParts): Promise<Receipt> {
  const { order, context, voices, muxed, verification, inputSha256, output } = parts
  const { plan, settings, job } = order
  const { mtimeMs } = await quickIdentity(plan.media.path)
  const warnings = plan.verdicts.asSent.filter(({ severity }) => severity === 'warn')
  return {
    schemaVersion: 1,
    voxmux: voxmuxVersion(),
    job: job.id,
    createdAt: new Date().toISOString(),
    input: { path: plan.media.path, sizeBytes: plan.media.sizeBytes, sha256: inputSha256, mtimeMs },
    output: { ...output, container: plan.mux.container },
    preset: settings.preset,
    recipeHash: order.recipeHash,
    segments: segmentsOf(voices),
    streams: verification.streams.map((stream) => ({
      index: stream.inputIndex,
      outputIndex: stream.outputIndex,
      kind: plan.media.streams[stream.inputIndex]?.kind ?? 'unknown',
      codec: stream.outputIndex === null ? null : (verification.output.streams[stream.outputIndex]?.codec ?? null),
      fate: stream.fate,
      packetHash: stream.packetHash,
      reason: stream.reason,
    })),
    chapters: verification.output.chapters.length,
    losses: [...plan.mux.losses],
    notes: [...plan.mux.notes, ...warnings.map(({ message }) => message)],
    tracks: tracksOf(parts),
    voices: voices.map(voiceRecord),
    service: {
      identity: context.serviceIdentity,
      address: context.serviceAddress,
      model: settings.recipe.voice.model,
    },
    verification: { level: verification.level, passed: true, checks: [...verification.checks] },
    publish: null,
    ffmpeg: { version: (await findFfmpeg()).version, runs: [[...muxed.args]] },
  }
}

/** The parts that were regenerated, in seconds, each once however many channels or tracks it has. */
function segmentsOf(voices: readonly ObtainedVoice[]): Receipt['segments'] {
  const parts = voices.map(({ plan, cut }) => {
    const { startSample, endSample } = closeRange(plan.range, cut.range.endSample)
    return { startSec: startSample / cut.sampleRate, endSec: endSample / cut.sampleRate }
  })
  return [...new Map(parts.map((part) => [`${part.startSec}-${part.endSec}`, part])).values()]
}

function tracksOf({ order, tracks, verification }: ReceiptParts): TrackRecord[] {
  return order.plan.tracks.map(({ stream: { audioIndex, sampleRate } }) => ({
    audioIndex,
    sampleRate,
    sync: [...(verification.sync.find((track) => track.audioIndex === audioIndex)?.places ?? [])],
    loudness: tracks.find((track) => track.audioIndex === audioIndex)?.loudness() ?? UNKNOWN_LOUDNESS,
  }))
}

function voiceRecord({ plan, cut, alignment, regenerated }: ObtainedVoice): VoiceRecord {
  return {
    audioIndex: plan.audioIndex,
    channel: plan.channels.kind === 'one' ? plan.channels.channel : null,
    startSample: cut.range.startSample,
    endSample: cut.range.endSample,
    sampleRate: cut.sampleRate,
    voiceHash: cut.voiceHash,
    fileId: regenerated.fileId,
    cached: regenerated.cached,
    paidSec: regenerated.paidSec,
    lagSamples: alignment.lagSamples,
    match: alignment.match,
    timesMs: { ...regenerated.timesMs },
  }
}
