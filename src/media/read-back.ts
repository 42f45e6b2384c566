import { correlate, nearestWaveformPeak } from './correlate.js'
import { streamFfmpeg } from './ffmpeg.js'
import { FILE_CLOCK_INPUT_OPTIONS, fileClockFilters } from './file-clock.js'
import { fileUrl, safeInputOptions } from './input-safety.js'
import { matchStreams } from './match-streams.js'
import type { MediaInfo } from './media-info.js'
import type { MuxedVoice, MuxResult } from './mux.js'
import { clockMoveSec, replacedStreams } from './mux-command.js'
import type { MuxPlan, PlannedStream } from './mux-plan.js'
import { PacketTimes, type PacketTimesByIndex, timesOutput } from './packet-times.js'
import { HashLines, hashOutput, type PacketHashes } from './stream-hash.js'
import type { SyncPlace, SyncPlaceName, SyncSample } from './sync-reference.js'
import { SyncWindows } from './sync-windows.js'
import { anchorShiftSec } from './table-differences.js'

/** A new sound as the output plays it. */
export interface TrackReadBack {
  readonly audioIndex: number
  /** From where the input's zero is now. */
  readonly sampleCount: number
  readonly places: readonly SyncPlace[]
  /** Where something was fed and nothing like it came back. */
  readonly lost: readonly SyncPlaceName[]
}

/** What one reading of an output gave. */
export interface ReadBack {
  /** Of the copied streams, by input index. */
  readonly packetHashes: PacketHashes
  readonly packetTimes: PacketTimesByIndex
  readonly tracks: readonly TrackReadBack[]
}

/** How far around its place a sound is looked for. */
const SEARCH_SEC = 0.1
/** Below this the encoder left nothing that resembles what was fed. */
const LEAST_MATCH = 0.3

/**
 * Reads an output once: hashes its copied packets and decodes its first new sound. Every further new sound is one
 * more reading.
 */
export async function readBack(
  plan: MuxPlan,
  result: MuxResult,
  output: MediaInfo,
  signal: AbortSignal | undefined,
): Promise<ReadBack> {
  const lines = new HashLines()
  const times = new PacketTimes()
  const matched = matchStreams(plan, output)
  const indexOf = (stream: PlannedStream) => matched.get(stream)?.index ?? -1
  const proofs = [...hashOutput(plan, indexOf), ...timesOutput(plan, indexOf)]
  const tracks: TrackReadBack[] = []
  for (const [place, voice] of result.voices.entries()) {
    const { filter, windows } = decoding(plan, output, voice)
    const { stdout, done } = streamFfmpeg(
      {
        // A damaged packet must not pass as sound.
        globalOptions: ['-xerror'],
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
    const moved = pictureMoved(plan, output, voice.format.sampleRate)
    const found = places(voice, windows, moved)
    tracks.push({
      audioIndex: voice.audioIndex,
      sampleCount: windows.sampleCount - moved,
      places: found,
      lost: found.flatMap(({ at, offsetSamples }, index) =>
        offsetSamples === null && isHeard(voice.syncSamples[index]) ? [at] : [],
      ),
    })
  }
  return { packetHashes: lines.byInputIndex(plan), packetTimes: times.byInputIndex(plan), tracks }
}

function decoding(plan: MuxPlan, output: MediaInfo, voice: MuxedVoice) {
  const stream = replacedStreams(plan).find(({ input }) => input.audioIndex === voice.audioIndex)
  const { sampleRate, channels } = voice.format
  const sum = Array.from({ length: channels }, (_, channel) => `c${channel}`).join('+')
  const clock = fileClockFilters({ startSec: output.startSec, sampleRate }, { kind: 'all' })
  // Opus knows only rates of its own: what went in at 44.1 kHz comes back at 48.
  const filters = [`aresample=${sampleRate}`, ...clock, 'aformat=sample_fmts=flt', `pan=mono|c0=${sum}`]
  return {
    filter: `[0:${(stream && matchStreams(plan, output).get(stream)?.index) ?? -1}]${filters.join(',')}[mono]`,
    windows: new SyncWindows(voice.syncSamples, Math.round(SEARCH_SEC * sampleRate)),
  }
}

/**
 * The picture's own move against the file's zero counts: what must not change is sound against picture. In Matroska what its
 * reader says begins before the timestamps written is the lead-in of Opus.
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
    // A match that is no number, as sound of broken floats gives, is none.
    const offsetSamples = match >= LEAST_MATCH ? lag - moved : null
    return { at: sample.at, atSample: sample.atSample, offsetSamples }
  })
}

function isHeard(sample: SyncSample | undefined): boolean {
  return sample !== undefined && sample.values.length > 0
}
