import { rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { type FfmpegRunOptions, runFfmpeg } from '../../ffmpeg/ffmpeg.js'
import type { PcmFormat, PcmStream } from '../../pcm/pcm.js'
import type { SampleRange } from '../../voice-cut.js'
import type { BytePlan } from '../byte-plan.js'
import type { EncodedPackets } from '../encoded-packets.js'
import type { SoundProbe } from '../splice/measure-joint.js'
import type { ReplacedPackets } from '../splice/spliced-packets.js'
import { extractAttached } from './attached-files.js'
import { copiedOpusDelayMs } from './copied-opus.js'
import { hasIndexFirst } from './index-first.js'
import { mendContainer } from './mend/mend-container.js'
import { type MuxSetting, muxCommand, newStreams } from './mux-command.js'
import type { MuxPlan } from './mux-plan.js'
import { PacketTimes, type PacketTimesByIndex } from './packet-times.js'
import { HashLines, type PacketHashes } from './stream-hash.js'
import type { SyncSample } from './sync-reference.js'
import { feedOf, makeVoiceInput, type VoiceInput } from './voice-input.js'

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
  /** Samples on the file's clock, priming included. */
  readonly sampleCount: number
  /** Samples skipped at the beginning for the encoder's priming or the track's late start. */
  readonly skippedSamples: number
  readonly syncSamples: readonly SyncSample[]
  /** Packets of the track that stayed; null if they were not meant to. */
  readonly splice: VoiceSplice | null
  /** The packets of its side file, if the output is compared with them. */
  readonly encoded: EncodedPackets | null
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
  /** Places of the bytes in the part file; null if ffmpeg wrote it, or if they have moved since. */
  readonly layout: BytePlan | null
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
  const given = newStreams(plan).map((stream) => feedOf(plan, stream, voices))
  const folder = options.workFolder ?? dirname(partPath)
  const spilled: string[] = []
  try {
    const fed: VoiceInput[] = []
    for (const [place, feed] of given.entries()) {
      const spill = place > 0 ? join(folder, `${basename(partPath)}.voice${place}`) : null
      if (spill !== null) spilled.push(spill)
      fed.push(await makeVoiceInput(plan, feed, { spill, signal: options.signal }))
    }
    spilled.push(...(await extractAttached(plan, { folder, partPath }, options)))
    const hashes = new HashLines()
    const times = new PacketTimes()
    const setting: MuxSetting = {
      voices: fed.map(({ input }) => input),
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
    await mendContainer(plan, partPath, fed[0]?.input.format, options.signal)
    return {
      runs: [...fed.flatMap(({ runs }) => runs), args],
      layout: null,
      packetHashes: hashes.byInputIndex(plan),
      packetTimes: times.byInputIndex(plan),
      voices: fed.map(({ input: { stream, format, skipSamples }, feed }) => ({
        ...{ audioIndex: stream.input.audioIndex, format, skippedSamples: skipSamples, splice: null, encoded: null },
        ...{ sampleCount: feed.sampleCount, syncSamples: feed.syncSamples },
      })),
    }
  } catch (error) {
    await rm(partPath, { force: true })
    throw error
  } finally {
    await Promise.all(spilled.map((path) => rm(path, { force: true })))
  }
}
