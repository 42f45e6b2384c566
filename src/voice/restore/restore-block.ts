import { bedsOf } from '../bed/beds-of.js'
import type { Block } from '../block-plan.js'
import type { JudgedBlock } from '../engine.js'
import { FRAME_SAMPLES } from '../rnnoise.js'
import { type OnShare, stepOf } from '../share.js'
import { type Evidence, emptyEvidence, strengthOf } from './evidence.js'
import type { EvidenceSettings } from './evidence-settings.js'
import type { FrameGain } from './frame-gain.js'
import { likenessOf } from './likeness.js'
import { limitPeaks } from './limit-peaks.js'
import { added, goBack } from './mix-samples.js'
import { type PreparedChannel, prepareChannel, unprepared } from './prepare-channel.js'
import { findRumble, type Rumble } from './rumble.js'
import { framesOf, HOP_SAMPLES, HOP_SEC, type InputChannel, proposeChanges } from './spectral-change.js'

/** Hears a channel: gives one voice a model, each of the channel's length and in its place. */
export type Listener = (
  channel: PreparedChannel,
  onShare?: OnShare,
) => Promise<readonly Float32Array[]> | readonly Float32Array[]

/**
 * Regenerates a block, for every engine. Models process each channel, and their gain gives the possible change. The
 * sound that they remove decides how much of that change is made. Without evidence of noise, and if music plays under
 * the voice, the samples stay as they are, to the bit.
 *
 * @param onShare told how much the models have heard, which takes most of the time
 * @returns the block alone
 */
export async function restoreBlock(
  block: Block,
  settings: EvidenceSettings,
  gain: FrameGain,
  listen: Listener,
  onShare?: OnShare,
): Promise<Float32Array<ArrayBuffer>[]> {
  const { channels, innerStart, innerEnd } = block
  const original = channels.map((channel) => channel.slice(innerStart, innerEnd))
  const prepared = prepare(block, gain)
  const changes = await findChanges(prepared, settings, gain, listen, onShare)
  const isChanged = changes.some(
    ({ wet, rumble }, c) =>
      prepared[c]?.sound !== channels[c] || isAnywhere(wet) || (rumble !== undefined && isAnywhere(rumble.strength)),
  )
  const beds = isChanged ? bedsIn(prepared, changes) : []
  const mended = changes.map(({ change, wet, rumble }, c) => {
    const voice = prepared[c]?.sound.subarray(innerStart, innerEnd) ?? change
    const mended = added(voice, change, wet, innerStart)
    const steady = rumble ? added(mended, rumble.change, rumble.strength, innerStart) : mended
    const bed = beds[c]
    if (bed && isAnywhere(bed)) goBack(steady, original[c] ?? steady, bed, innerStart)
    return steady
  })
  limitPeaks(mended, original)
  return mended
}

function prepare({ channels, innerStart }: Block, { correctsFaults }: FrameGain): readonly PreparedChannel[] {
  return channels.map((sound) => (correctsFaults ? prepareChannel(sound, innerStart) : unprepared(sound)))
}

function differs(one: Float32Array, other: Float32Array, start: number, count: number): boolean {
  if (one === other) return false
  for (let i = start; i < start + count; i++) if (one[i] !== other[i]) return true
  return false
}

/** A change of one channel, and how much of it to make, frame by frame. */
interface ChannelChange {
  readonly change: Float32Array
  readonly wet: Float64Array
  readonly rumble: Rumble | undefined
  /** How far the channel shares the gain of all, frame by frame. */
  readonly alike: Float64Array
}

async function findChanges(
  prepared: readonly PreparedChannel[],
  settings: EvidenceSettings,
  gain: FrameGain,
  listen: Listener,
  onShare?: OnShare,
): Promise<ChannelChange[]> {
  const heard: InputChannel[] = []
  for (const [c, channel] of prepared.entries()) {
    const step = stepOf(onShare, c / prepared.length, (c + 1) / prepared.length)
    heard.push({ original: channel.sound, voices: await listen(channel, step) })
    step?.(1)
  }
  const channels = prepared.map(({ sound }) => sound)
  const frames = framesOf(channels[0]?.length ?? 0)
  const likeness = likenessOf(channels, frames, HOP_SAMPLES, HOP_SEC)
  const proposals = proposeChanges(heard, gain, likeness)

  const strength = (evidence: Evidence) => strengthOf(evidence, HOP_SEC, settings)
  const shared = proposals[0] ? strength(proposals[0].shared) : new Float64Array(frames)
  return proposals.map(({ change, own }, c) => {
    const alike = likeness[c] ?? shared
    const alone = alike.every((value) => value === 1) ? shared : strength(own)
    const wet = shared.map((value, i) => {
      const share = alike[i] ?? 1
      return share * value + (1 - share) * (alone[i] ?? 0)
    })
    const found = { change, wet, alike }
    if (!gain.correctsFaults) return { ...found, rumble: undefined }
    // The change takes the rumble out as far as it is made: only the rest is left to do.
    const rumble = findRumble(channels[c] ?? change)
    const left = rumble.strength.map((value, i) => value * (1 - (wet[i] ?? 0)))
    return { ...found, rumble: { change: rumble.change, strength: left } }
  })
}

function bedsIn(prepared: readonly PreparedChannel[], changes: readonly ChannelChange[]): Float64Array[] {
  const lows = prepared.map((channel) => channel.low())
  const likeness = changes.map(({ alike }) => alike)
  return bedsOf(lows, likeness)
}

function isAnywhere(strength: Float64Array): boolean {
  return strength.some((value) => value > 0)
}

/**
 * How strongly {@link restoreBlock} would change a block if there were no bed, and how surely there is one.
 *
 * @returns each 10 ms of the block itself, in the channel with the highest value: 0 … 1
 */
export async function judgeBlock(
  block: Block,
  settings: EvidenceSettings,
  gain: FrameGain,
  listen: Listener,
): Promise<Pick<JudgedBlock, 'strength' | 'bed'>> {
  const { channels, innerStart, innerEnd } = block
  const prepared = prepare(block, gain)
  const changes = await findChanges(prepared, settings, gain, listen)
  const beds = bedsIn(prepared, changes)
  const rooms = prepared.map(({ whole, room }) => room && roomStrength(whole, room))
  const length = Math.ceil((innerEnd - innerStart) / FRAME_SAMPLES)
  const hopOf = (frame: number) => Math.round((innerStart + (frame + 0.5) * FRAME_SAMPLES) / HOP_SAMPLES)
  return {
    strength: Float32Array.from({ length }, (_, frame) => {
      const start = innerStart + frame * FRAME_SAMPLES
      const isPrepared = prepared.some(({ whole }, c) => differs(whole, channels[c] ?? whole, start, FRAME_SAMPLES))
      if (isPrepared) return 1
      const hop = hopOf(frame)
      const strengths = changes.flatMap(({ wet, rumble }, c) => [wet, rumble?.strength, rooms[c]])
      return Math.max(0, ...strengths.map((strength) => strength?.[hop] ?? 0))
    }),
    bed: Float32Array.from({ length }, (_, frame) => Math.max(0, ...beds.map((bed) => bed[hopOf(frame)] ?? 0))),
  }
}

/**
 * Reverberation in dB relative to the voice that makes a recording worth sending to a service. A microphone at 15 cm in a
 * room of 0.4 s stays below the first figure. One at a metre in a room of 0.3 s exceeds the second.
 */
const ROOM_SETTINGS: EvidenceSettings = { cleanDb: -12, noisyDb: -9 }

/** How far reverberation makes sound noisy: 0 … 1 by frame. @param sound 48 kHz @param change that removes it */
export function roomStrength(sound: Float32Array, change: Float32Array): Float64Array {
  const frames = framesOf(sound.length)
  const evidence = emptyEvidence(frames)
  for (let i = 0; i < sound.length; i++) {
    const frame = Math.round(i / HOP_SAMPLES)
    const [own, removed] = [sound[i] ?? 0, change[i] ?? 0]
    evidence.kept[frame] = (evidence.kept[frame] ?? 0) + (own * own) / HOP_SAMPLES
    evidence.removed[frame] = (evidence.removed[frame] ?? 0) + (removed * removed) / HOP_SAMPLES
  }
  return strengthOf(evidence, HOP_SEC, ROOM_SETTINGS)
}
