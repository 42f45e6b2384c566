import { rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { UsageError } from '../../../core/errors.js'
import { type FfmpegRunOptions, runFfmpeg } from '../../ffmpeg/ffmpeg.js'
import { safeInputOptions } from '../../ffmpeg/input-safety.js'
import type { PcmFormat, PcmStream } from '../../pcm/pcm.js'
import { writeChunks } from '../../pcm/pcm-file.js'
import { isMatroska } from '../../probe/container-kind.js'
import { copyWaveChunks } from '../../probe/wave-chunks.js'
import type { SampleRange } from '../../voice-cut.js'
import { encoderPriming, matroskaLeadIn } from '../encode/encoder-priming.js'
import { roughened } from '../encode/roughened.js'
import { loudnessFields, measureBext } from '../pcm-in-place/bext-loudness.js'
import type { SoundProbe } from '../splice/measure-joint.js'
import type { ReplacedPackets } from '../splice/spliced-packets.js'
import { keepAsfIdentity } from './asf-identity.js'
import { extractAttached } from './attached-files.js'
import { keepAviClocks } from './avi-clocks.js'
import { carryVoice, isCarriedEncoded } from './carried-voice.js'
import { copiedOpusDelayMs } from './copied-opus.js'
import { latePictureSec } from './first-picture.js'
import { earlyLeadInSec } from './first-sound.js'
import { writeFreeTags } from './movie/free-tags.js'
import { hasIndexFirst } from './movie/index-first.js'
import { writeQuickTimeLanguages } from './movie/languages.js'
import { writeTrackMarks } from './movie/track-mark.js'
import { type MuxInput, type MuxSetting, muxCommand, newStreams } from './mux-command.js'
import type { MuxPlan } from './mux-plan.js'
import { PacketTimes, type PacketTimesByIndex } from './packet-times.js'
import { boundVoice, isBoundToPictures } from './picture-length.js'
import type { NewStream } from './plan-streams.js'
import { HashLines, type PacketHashes } from './stream-hash.js'
import type { SyncSample } from './sync-reference.js'
import { VoiceFeed } from './voice-feed.js'

export interface MuxRunOptions extends Pick<FfmpegRunOptions, 'signal' | 'onProgressSec'> {
  /** Temporary folder for the second and further voices; the part file's folder by default. */
  readonly workFolder?: string | undefined
  /** Seconds of the input that a rehearsal reads; all by default. */
  readonly headSec?: number | undefined
  /** Ranges in which a voice differs from its decoded track, by place among the audio streams; none if all of it may. */
  readonly changed?: ReadonlyMap<number, readonly SampleRange[]> | undefined
  /** Why packets that the plan would join are not: the differences of a first output. */
  readonly unjoined?: string | undefined
}

/** A new voice as it was fed to the mux. */
export interface MuxedVoice {
  readonly audioIndex: number
  readonly format: PcmFormat
  /** Samples on the file's clock, lead-in included. */
  readonly sampleCount: number
  /** Samples skipped at the beginning for the encoder's lead-in or the track's late start. */
  readonly skippedSamples: number
  readonly syncSamples: readonly SyncSample[]
  /** Packets of the track that stayed; null if they were not meant to. */
  readonly splice: VoiceSplice | null
}

/** The packets of a track whose voice changed in parts. */
export type VoiceSplice =
  /** All packets but those of the spans are the original's. */
  | {
      readonly kind: 'spliced'
      /** Packets of the input. */
      readonly count: number
      readonly replaced: readonly ReplacedPackets[]
      readonly probes: readonly SoundProbe[]
      /** The parts of the voice that were read, if not all of it; verification reads the same. */
      readonly sections: readonly SampleRange[] | null
    }
  | { readonly kind: 'whole'; readonly reason: string }

export interface MuxResult {
  /** Exact arguments of each ffmpeg process. */
  readonly runs: readonly (readonly string[])[]
  readonly voices: readonly MuxedVoice[]
  /** Packets of the copied streams as read from the input; by input index. */
  readonly packetHashes: PacketHashes
  /** Packet times of the copied videos and subtitles, likewise. */
  readonly packetTimes: PacketTimesByIndex
}

/**
 * Writes the output in one reading of the input. The first voice is fed on stdin, further ones through temporary
 * files. Removes the temporary files at the end, and the part file after a fault. The caller syncs the output.
 *
 * @param voices by place among the audio streams; sample 0 is the file's zero
 * @throws {UsageError} ERR_VOICE_MISSING; the typed errors of ffmpeg
 */
export async function mux(
  plan: MuxPlan,
  voices: ReadonlyMap<number, PcmStream>,
  partPath: string,
  options: MuxRunOptions = {},
): Promise<MuxResult> {
  const fed = newStreams(plan).map((stream) => ({ stream, ...feedOf(plan, stream, voices) }))
  const folder = options.workFolder ?? dirname(partPath)
  const spilled: string[] = []
  try {
    const inputs: MuxInput[] = []
    const runs: (readonly string[])[] = []
    for (const [place, { stream, voice, feed }] of fed.entries()) {
      const timing = await voiceTiming(plan, stream, voice, options.signal)
      const { bytes, encoded, runs: own } = await carryVoice(plan, stream, feed, { ...timing, signal: options.signal })
      runs.push(...own)
      const spill = join(folder, `${basename(partPath)}.voice${place}`)
      if (place > 0) {
        spilled.push(spill)
        await writeChunks(bytes, spill, options.signal)
      }
      inputs.push({ stream, format: voice.format, source: place > 0 ? spill : bytes, encoded, ...timing })
    }
    spilled.push(...(await extractAttached(plan, { folder, partPath }, options)))
    const hashes = new HashLines()
    const times = new PacketTimes()
    const setting: MuxSetting = {
      voices: inputs,
      partPath,
      workFolder: folder,
      fastStart: await hasIndexFirst(plan.media),
      headSec: options.headSec,
      copiedOpusDelayMs: await copiedOpusDelayMs(plan, options.signal),
    }
    const { args } = await runFfmpeg(muxCommand(plan, setting), {
      signal: options.signal,
      onProgressSec: options.onProgressSec,
      takeStderrLine: (line) => hashes.take(line),
      onFactLine: (line) => times.take(line),
      input: plan.media.path,
    })
    if (plan.container === 'mov') await writeQuickTimeLanguages(plan, partPath)
    await writeTrackMarks(plan, partPath)
    await writeFreeTags(plan, partPath)
    await keepAviClocks(plan, partPath)
    await keepAsfIdentity(plan, partPath)
    if (plan.container === 'wav' && plan.media.container === 'wav')
      await copyWaveChunks(plan.media.path, partPath, await bextFields(plan, partPath, fed[0]?.voice, options.signal))
    return {
      runs: [...runs, args],
      packetHashes: hashes.byInputIndex(plan),
      packetTimes: times.byInputIndex(plan),
      voices: fed.map(({ stream, voice, feed }, place) => ({
        audioIndex: stream.input.audioIndex,
        format: voice.format,
        sampleCount: feed.sampleCount,
        skippedSamples: inputs[place]?.skipSamples ?? 0,
        syncSamples: feed.syncSamples,
        splice: null,
      })),
    }
  } catch (error) {
    await rm(partPath, { force: true })
    throw error
  } finally {
    await Promise.all(spilled.map((path) => rm(path, { force: true })))
  }
}

/** Wraps the voice of a track to count it and to keep samples for the sync check. */
export function feedOf(plan: MuxPlan, stream: NewStream, voices: ReadonlyMap<number, PcmStream>) {
  const given = voices.get(stream.input.audioIndex)
  if (!given) {
    throw new UsageError('ERR_VOICE_MISSING', `No new voice was given for audio track ${stream.input.audioIndex}.`, {
      input: plan.media.path,
    })
  }
  const isBound = plan.writing.kind === 'remux' && isBoundToPictures(plan.profile, plan.media)
  const bound = isBound ? boundVoice(given, plan.media) : given
  const voice = stream.encoding.codec === 'aac' ? roughened(bound) : bound
  const { durationSec, startSec } = plan.media
  // Matroska counts its duration from zero, even if the first packet is later.
  const leadSec = isMatroska(plan.media) ? Math.max(0, startSec) : 0
  // The header of a live recording states no duration, and the sound of a film may end long before it.
  const expectedSec = stream.input.packetsEndSec ?? Math.max(0, (durationSec ?? 0) - leadSec)
  const expected = Math.round(expectedSec * voice.format.sampleRate)
  return { voice, feed: new VoiceFeed(voice, expected) }
}

/** Computes the skip and the delay with which a player plays the voice at its place. */
async function voiceTiming(
  plan: MuxPlan,
  { encoding, input }: NewStream,
  voice: PcmStream,
  signal: AbortSignal | undefined,
): Promise<Pick<MuxInput, 'skipSamples' | 'delaySamples'>> {
  const { media, profile } = plan
  const { format } = voice
  const lateSec = startsAnywhere(plan) ? (input.startSec ?? media.startSec) - media.startSec : 0
  const early = Math.round((latePictureSec(plan) + earlyLeadInSec(plan)) * format.sampleRate)
  const late = Math.max(early, Math.round(lateSec * format.sampleRate))
  if (profile.priming === 'signalled' || encoding.lossless) return { skipSamples: late, delaySamples: 0 }
  // To the muxer, an encoded voice is a stream without a lead-in.
  if (profile.priming === 'measured' && !isCarriedEncoded(profile, encoding, voice)) {
    const { isSignalled, shiftSamples } = await matroskaLeadIn(encoding, format, signal)
    if (isSignalled) return { skipSamples: late, delaySamples: shiftSamples }
    if (encoding.codec === 'opus') {
      // The track starts with its lead-in. The old lead-in is part of the voice, so the new one replaces it.
      const own = input.codec === 'opus' && isMatroska(media) ? await encoderPriming(encoding, format, signal) : 0
      return { skipSamples: late + own, delaySamples: shiftSamples }
    }
  }
  // The encoder's lead-in replaces the first few ms. A negative timestamp would make ffmpeg move everything else.
  return { skipSamples: Math.max(late, early + (await encoderPriming(encoding, format, signal))), delaySamples: 0 }
}

/** False if the output has no start time: a file of sound made of a film, or MXF. The silence before late sound is written. */
function startsAnywhere({ media, container, profile }: MuxPlan): boolean {
  if (isBoundToPictures(profile, media)) return false
  return media.container === container || !(profile.soundOnly || profile.muxer === 'ogg')
}

/** The loudness of a finished WAV, if the input states one. */
async function bextFields(
  { media }: MuxPlan,
  partPath: string,
  voice: PcmStream | undefined,
  signal: AbortSignal | undefined,
): Promise<Buffer | undefined> {
  if (!media.statesLoudness || voice === undefined) return undefined
  return loudnessFields(await measureBext(partPath, voice.format, safeInputOptions(), signal))
}
