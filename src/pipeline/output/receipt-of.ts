import type { Recipe } from '../../config/preset-schema.js'
import { quickIdentity } from '../../core/file-identity.js'
import { formatTime } from '../../core/time.js'
import { type MuxedVoice, type MuxPlan, type MuxResult, type MuxVerification, writingFacts } from '../../media/index.js'
import type { FaultFigures } from '../../voice/index.js'
import type { JobPlan } from '../plan/plan-job.js'
import type { PiecePlan } from '../plan/plan-tracks.js'
import { rangesInCut } from '../plan/segments.js'
import type { ObtainedChunk } from '../voice/obtain-chunk.js'
import type { LeftPiece, ObtainedPiece, ObtainedVoices } from '../voice/obtain-voices.js'
import type { AssembledTrack } from './assemble-track.js'
import { bareReceipt, type ReceiptFacts } from './bare-receipt.js'
import type { Receipt, TrackRecord, VoiceRecord } from './receipt.js'
import type { SoundChanges } from './sound-changes.js'

const UNKNOWN = { integratedLufs: null, rangeLu: null, truePeakDbtp: null }
const UNKNOWN_LOUDNESS = { before: UNKNOWN, after: UNKNOWN }

/** Tolerance of EBU R128 for a level that is not met exactly, in LU. */
const TOLERANCE_LU = 0.5

interface ReceiptParts extends ReceiptFacts {
  readonly plan: JobPlan
  readonly voices: ObtainedVoices
  readonly changes: SoundChanges
  readonly tracks: readonly AssembledTrack[]
  readonly muxed: MuxResult
  readonly verification: MuxVerification
  readonly inputSha256: string
  readonly credentials: Receipt['credentials']
  readonly output: { readonly path: string; readonly sizeBytes: number; readonly sha256: string }
}

/** Records what was done to a file, before it is published (`publish` is still unknown). */
export async function receiptOf(parts: ReceiptParts): Promise<Receipt> {
  const { plan, voices, muxed, verification, inputSha256, output } = parts
  const bare = await bareReceipt(parts)
  const { mtimeMs } = await quickIdentity(plan.media.path)
  const tracks = await tracksOf(parts)
  return {
    ...bare,
    input: { path: plan.media.path, sizeBytes: plan.media.sizeBytes, sha256: inputSha256, mtimeMs },
    output: { ...output, container: plan.mux.container },
    segments: segmentsOf(voices.pieces),
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
    writing: receiptWriting(plan.mux),
    notes: [
      ...plan.notes,
      ...warningsOf(plan),
      ...muxed.voices.flatMap(spliceNotes),
      ...voiceNotes(voices),
      ...loudnessNotes(tracks, parts.settings.recipe.loudness),
    ],
    tracks,
    ...voiceFigures(voices, parts.changes),
    credentials: parts.credentials,
    verification: { level: verification.level, passed: true, checks: [...verification.checks] },
    ffmpeg: { ...bare.ffmpeg, runs: muxed.runs.map((args) => [...args]) },
  }
}

/** Warnings of the pre-check. */
export function warningsOf({ verdicts }: Pick<JobPlan, 'verdicts'>): string[] {
  return verdicts.asSent.filter(({ severity }) => severity === 'warn').map(({ message }) => message)
}

/** Notes on what was not sent, and on what was sent. */
export function voiceNotes({ pieces, left }: ObtainedVoices): string[] {
  return [
    ...left.map(leftNote),
    ...pieces.flatMap(voicelessNotes),
    ...pieces.flatMap(({ chunks }) => chunks.flatMap(({ regenerated }) => regenerated?.notes ?? [])),
  ]
}

export function voiceFigures(
  { pieces }: Pick<ObtainedVoices, 'pieces'>,
  changes: SoundChanges,
): Pick<Receipt, 'voices' | 'voicelessPaidSec'> {
  const chunks = pieces.flatMap((piece) => piece.chunks)
  return {
    voices: pieces.flatMap(({ plan, chunks }) => chunks.flatMap((chunk) => voiceRecord(plan, chunk, changes))),
    voicelessPaidSec: chunks.reduce((sum, { regenerated, paidSec }) => sum + (regenerated ? 0 : paidSec), 0),
  }
}

function receiptWriting(mux: MuxPlan): Receipt['writing'] {
  const { writer, declined, census } = writingFacts(mux)
  return { writer, declined: [...declined], census: census && [...census] }
}

/** The regenerated parts in seconds, each once, however many channels or tracks it has. */
export function segmentsOf(pieces: readonly ObtainedPiece[]): Receipt['segments'] {
  const parts = pieces.flatMap(({ plan, range, chunks: [chunk] }) => {
    if (chunk === undefined) return []
    const { sampleRate } = chunk.cut
    return rangesInCut(plan.ranges, range).map(({ startSample, endSample }) => ({
      startSec: startSample / sampleRate,
      endSec: endSample / sampleRate,
    }))
  })
  return [...new Map(parts.map((part) => [`${part.startSec}-${part.endSec}`, part])).values()]
}

function leftNote({ plan, why }: LeftPiece): string {
  const channel = plan.channels.kind === 'one' ? `Channel ${plan.channels.channel} of audio` : 'Audio'
  const reason = why === 'silent' ? 'is silent' : 'ends before the requested part'
  return `${channel} track ${plan.audioIndex} ${reason}, so it was not sent and is unchanged.`
}

function voicelessNotes({ plan, chunks }: ObtainedPiece): string[] {
  return chunks.flatMap(({ cut, regenerated }) => {
    if (regenerated) return []
    const part = `${formatTime(cut.range.startSample / cut.sampleRate)}-${formatTime(cut.range.endSample / cut.sampleRate)}`
    const place = `${plan.channels.kind === 'one' ? `channel ${plan.channels.channel} of ` : ''}audio track ${plan.audioIndex}`
    return [`The service found no voice in ${place} at ${part}, so that part is unchanged.`]
  })
}

/** Says which packets of a track stayed, or why none did. */
function spliceNotes(voice: MuxedVoice): string[] {
  const name = `Audio track ${voice.audioIndex}`
  if (voice.splice?.kind === 'whole') return [`${name} was re-encoded from start to end: ${voice.splice.reason}.`]
  const packets = keptPackets(voice)
  if (!packets) return []
  const runs = packets.kept.map(({ from, to }) => `${from}-${to}`).join(', ')
  return [`${name}: packets ${runs} of ${packets.count} are the original's.`]
}

function keptPackets({ splice }: MuxedVoice): TrackRecord['packets'] {
  if (splice?.kind !== 'spliced') return null
  const { count, replaced } = splice
  const kept: { from: number; to: number }[] = []
  let next = 1
  for (const { from, to } of [...replaced, { from: count, to: count }]) {
    if (from >= next) kept.push({ from: next, to: from })
    next = to + 2
  }
  return { count, kept }
}

function tracksOf({ plan, tracks, muxed, verification }: ReceiptParts): Promise<TrackRecord[]> {
  return Promise.all(
    plan.tracks.map(async ({ stream: { audioIndex, sampleRate } }) => ({
      audioIndex,
      sampleRate,
      packets: muxed.voices.filter((voice) => voice.audioIndex === audioIndex).map(keptPackets)[0] ?? null,
      sync: [...(verification.sync.find((track) => track.audioIndex === audioIndex)?.places ?? [])],
      loudness: (await tracks.find((track) => track.audioIndex === audioIndex)?.loudness()) ?? UNKNOWN_LOUDNESS,
    })),
  )
}

function voiceRecord(plan: PiecePlan, chunk: ObtainedChunk, changes: SoundChanges): VoiceRecord[] {
  const { cut, alignment, regenerated } = chunk
  if (regenerated === null) return []
  const change = changes.get(chunk)
  const record = {
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
    changedSec: change === undefined ? null : rounded(change.changedSec, 3),
    removedDb: rounded(change?.removedDb ?? null, 1),
    ...faultRecord(change),
    timesMs: { ...regenerated.timesMs },
  }
  return [record]
}

function faultRecord(faults: FaultFigures | undefined): Pick<VoiceRecord, 'hum' | 'clipping' | 'reverberation'> {
  const { hum, clipping, reverberation } = faults ?? { hum: null, clipping: null, reverberation: null }
  return {
    hum: hum && {
      frequencyHz: rounded(hum.frequencyHz, 2),
      levelDb: rounded(hum.levelDb, 1),
      fallDb: rounded(hum.fallDb, 1),
    },
    clipping: clipping && { share: rounded(clipping.share, 5), shareLeft: rounded(clipping.shareLeft, 5) },
    reverberation: reverberation && {
      levelDb: rounded(reverberation.levelDb, 1),
      levelLeftDb: rounded(reverberation.levelLeftDb, 1),
    },
  }
}

function rounded(value: number, digits: number): number
function rounded(value: number | null, digits: number): number | null
function rounded(value: number | null, digits: number): number | null {
  return value === null ? null : Number(value.toFixed(digits))
}

/** Names each track that the limit of true peaks kept below its loudness target. */
function loudnessNotes(
  tracks: readonly Pick<TrackRecord, 'audioIndex' | 'loudness'>[],
  target: Recipe['loudness'],
): string[] {
  if (target === null) return []
  const { targetLufs, truePeakDbtp } = target
  return tracks.flatMap(({ audioIndex, loudness: { after } }) => {
    if (after.integratedLufs === null || after.integratedLufs >= targetLufs - TOLERANCE_LU) return []
    return [
      `Audio track ${audioIndex} has ${after.integratedLufs.toFixed(1)} LUFS instead of ${targetLufs} LUFS, because more would lift its true peaks over ${truePeakDbtp} dBTP. Lower "loudness.targetLufs", or raise "loudness.truePeakDbtp".`,
    ]
  })
}
