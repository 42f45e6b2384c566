import type { VoxmuxError } from '../../core/errors.js'
import { streamFfmpeg } from '../ffmpeg/ffmpeg.js'
import { fileUrl, safeInputOptions } from '../ffmpeg/input-safety.js'
import type { MediaInfo } from '../media-info.js'
import { correlate, nearestWaveformPeak } from '../pcm/correlate.js'
import { FILE_CLOCK_INPUT_OPTIONS, fileClockFilters } from '../pcm/file-clock.js'
import type { MuxedVoice, MuxResult } from '../write/remux/mux.js'
import { clockMoveSec, replacedStreams } from '../write/remux/mux-command.js'
import { type MuxPlan, type PlannedStream, splicedStreams } from '../write/remux/mux-plan.js'
import { PacketTimes, type PacketTimesByIndex, timesOutput } from '../write/remux/packet-times.js'
import { HashLines, hashOutput, type PacketHashes } from '../write/remux/stream-hash.js'
import type { SyncPlace, SyncPlaceName, SyncSample } from '../write/remux/sync-reference.js'
import { errorPower } from '../write/splice/measure-joint.js'
import { matchStreams } from './match-streams.js'
import { SyncWindows } from './sync-windows.js'
import { anchorShiftSec } from './table-differences.js'

/** New audio as decoded from the output. */
export interface TrackReadBack {
  readonly audioIndex: number
  /** Counted from the input's zero in the output. */
  readonly sampleCount: number
  readonly places: readonly SyncPlace[]
  /** Places at which the decoded audio does not resemble the audio that was fed. */
  readonly lost: readonly SyncPlaceName[]
  /** Samples of the clock at which a changed part does not come back as it was encoded. */
  readonly unlike: readonly number[]
}

/** Facts from one reading of an output. */
export interface ReadBack {
  /** Copied streams, by input index. */
  readonly packetHashes: PacketHashes
  readonly packetTimes: PacketTimesByIndex
  readonly tracks: readonly TrackReadBack[]
}

/** Search range on each side of the expected place. */
const SEARCH_SEC = 0.1
/** Least correlation that counts as a match. */
const LEAST_MATCH = 0.3

/**
 * Reads an output once: hashes its copied packets and decodes its first new track. Each further new track takes
 * another reading.
 */
export async function readBack(
  plan: MuxPlan,
  result: MuxResult,
  output: MediaInfo,
  signal: AbortSignal | undefined,
): Promise<ReadBack> {
  const lines = new HashLines()
  const parts = splicedStreams(plan)
  const times = new PacketTimes(parts)
  const matched = matchStreams(plan, output)
  const indexOf = (stream: PlannedStream) => matched.get(stream)?.index ?? -1
  const proofs = [...hashOutput(plan, indexOf), ...timesOutput(plan, indexOf, parts)]
  const tracks: TrackReadBack[] = []
  for (const [place, voice] of result.voices.entries()) {
    const decode = async (globalOptions: readonly string[]) => {
      const { filter, windows } = decoding(plan, output, voice)
      const { stdout, done } = streamFfmpeg(
        {
          globalOptions,
          inputs: [{ url: fileUrl(output.path), options: [...safeInputOptions(output), ...FILE_CLOCK_INPUT_OPTIONS] }],
          filterComplex: filter,
          outputs: [
            { url: 'pipe:1', options: ['-map', '[mono]', '-c:a', 'pcm_f32le', '-f', 'f32le'] },
            ...(place === 0 ? proofs : []),
          ],
        },
        {
          signal,
          input: output.path,
          takeStderrLine: (line) => lines.take(line),
          onFactLine: (line) => times.take(line),
        },
      )
      for await (const chunk of stdout) windows.push(chunk as Buffer)
      await done
      return windows
    }
    // A damaged packet must fail the check.
    const windows = await decode(['-xerror']).catch((error: VoxmuxError) => {
      // A byte writer keeps damaged bytes of the input, so the output may have them too.
      if (plan.writing.kind === 'remux' || error.exitCode === 130 || error.exitCode === 4) throw error
      return decode([])
    })
    const moved = pictureMoved(plan, output, voice.format.sampleRate)
    const found = places(voice, windows, moved)
    tracks.push({
      audioIndex: voice.audioIndex,
      sampleCount: windows.sampleCount - moved,
      places: found,
      lost: found.flatMap(({ at, offsetSamples }, index) =>
        offsetSamples === null && isHeard(voice.syncSamples[index]) ? [at] : [],
      ),
      unlike: unlikeProbes(voice, windows, moved),
    })
  }
  return { packetHashes: lines.byInputIndex(plan), packetTimes: times.byInputIndex(plan), tracks }
}

function decoding(plan: MuxPlan, output: MediaInfo, voice: MuxedVoice) {
  const stream = replacedStreams(plan).find(({ input }) => input.audioIndex === voice.audioIndex)
  const { sampleRate, channels } = voice.format
  const sum = Array.from({ length: channels }, (_, channel) => `c${channel}`).join('+')
  const clock = fileClockFilters({ startSec: output.startSec, sampleRate }, { kind: 'all' })
  // Opus supports few sample rates: 44.1 kHz comes back as 48 kHz.
  const filters = [`aresample=${sampleRate}`, ...clock, 'aformat=sample_fmts=flt', `pan=mono|c0=${sum}`]
  return {
    filter: `[0:${(stream && matchStreams(plan, output).get(stream)?.index) ?? -1}]${filters.join(',')}[mono]`,
    windows: new SyncWindows([...voice.syncSamples, ...probesOf(voice)], Math.round(SEARCH_SEC * sampleRate)),
  }
}

/**
 * Samples by which the picture moved against the file's zero: the offset between sound and picture must not change.
 * Without a picture, Matroska starts earlier than its timestamps because of the Opus lead-in.
 */
function pictureMoved(plan: MuxPlan, output: MediaInfo, sampleRate: number): number {
  const zeroMovedSec = output.startSec - plan.media.startSec
  const withoutPictureSec = plan.profile.priming === 'measured' ? clockMoveSec(plan) : zeroMovedSec
  return Math.round(((anchorShiftSec(plan, output) ?? withoutPictureSec) - zeroMovedSec) * sampleRate)
}

function places(voice: MuxedVoice, windows: SyncWindows, moved: number): readonly SyncPlace[] {
  const reach = Math.round(SEARCH_SEC * voice.format.sampleRate)
  return voice.syncSamples.map((sample, place) => {
    if (!isHeard(sample)) return { at: sample.at, atSample: sample.atSample, offsetSamples: null }
    const { lag, match } = nearestWaveformPeak(correlate(sample.values, windows.window(place), reach), moved)
    // Broken floats give a match of NaN, which fails this comparison.
    const offsetSamples = match >= LEAST_MATCH ? lag - moved : null
    return { at: sample.at, atSample: sample.atSample, offsetSamples }
  })
}

function probesOf({ splice }: MuxedVoice) {
  return splice?.kind === 'spliced' ? splice.probes : []
}

function unlikeProbes(voice: MuxedVoice, windows: SyncWindows, moved: number): readonly number[] {
  const first = Math.round(SEARCH_SEC * voice.format.sampleRate) + moved
  return probesOf(voice).flatMap(({ atSample, values, mostError }, place) => {
    const decoded = windows.window(voice.syncSamples.length + place).subarray(first, first + values.length)
    // NaN fails.
    return errorPower(values, decoded) <= mostError ? [] : [atSample]
  })
}

function isHeard(sample: SyncSample | undefined): boolean {
  return sample !== undefined && sample.values.length > 0
}
