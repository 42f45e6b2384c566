import type { VoxmuxError } from '../../core/errors.js'
import { runFfmpeg, streamFfmpeg } from '../ffmpeg/ffmpeg.js'
import type { MediaInfo } from '../media-info.js'
import { channelWeight } from '../pcm/channel-weight.js'
import { fileClockFilters } from '../pcm/clock-filters.js'
import { clockedInput, fileClock, rangeFrom } from '../pcm/file-clock.js'
import type { SampleRange } from '../voice-cut.js'
import { earlyLeadInSec } from '../write/remux/first-sound.js'
import type { MuxedVoice, MuxResult } from '../write/remux/mux.js'
import { clockMoveSec, newStreams } from '../write/remux/mux-command.js'
import { type MuxPlan, type PlannedStream, splicedStreams } from '../write/remux/mux-plan.js'
import { PacketTimes, type PacketTimesByIndex, timesOutput } from '../write/remux/packet-times.js'
import { HashLines, hashOutput, type PacketHashes } from '../write/remux/stream-hash.js'
import { type SyncPlace, type SyncPlaceName, syncReach } from '../write/remux/sync-reference.js'
import { errorPower } from '../write/splice/measure-joint.js'
import { findBlock } from './find-block.js'
import { matchStreams } from './match-streams.js'
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

/**
 * Reads an output once: hashes its copied packets and decodes its first new track. Each further new track takes
 * another reading. A track that changed in parts is decoded only around these, if its voice was read so.
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
  const options = {
    signal,
    input: output.path,
    takeStderrLine: (line: string) => lines.take(line),
    onFactLine: (line: string) => times.take(line),
  }
  // A voice that is decoded from its start has the packets read beside it.
  const bearer = result.voices.findIndex((voice) => sectionsOf(voice) === null)
  const isAlone = bearer < 0 && proofs.length > 0
  const proved = isAlone ? runFfmpeg({ inputs: [clockedInput(output)], outputs: proofs }, options) : undefined
  // Awaited at the end. A fault of a voice must not leave it unhandled.
  proved?.catch(() => {})
  for (const [place, voice] of result.voices.entries()) {
    const moved = pictureMoved(plan, output, voice.format.sampleRate)
    const decode = async (globalOptions: readonly string[]) => {
      const windows = windowsOf(voice, moved)
      for (const section of sectionsOf(voice) ?? [null]) {
        const { clock, filter } = decoding(plan, output, voice, section)
        const { stdout, done } = streamFfmpeg(
          {
            globalOptions,
            inputs: [clockedInput(output, clock)],
            filterComplex: filter,
            outputs: [
              { url: 'pipe:1', options: ['-map', '[mono]', '-c:a', 'pcm_f32le', '-f', 'f32le'] },
              ...(place === bearer ? proofs : []),
            ],
          },
          options,
        )
        windows.begin(clock.fromSample)
        for await (const chunk of stdout) windows.push(chunk as Buffer)
        await done
      }
      return windows
    }
    // A damaged packet must fail the check.
    const windows = await decode(['-xerror']).catch((error: VoxmuxError) => {
      // A byte writer keeps damaged bytes of the input, so the output may have them too.
      if (plan.writing.kind === 'remux' || error.exitCode === 130 || error.exitCode === 4) throw error
      return decode([])
    })
    const found = voice.syncSamples.map((sample, place) => findBlock(voice, sample, windows.window(place)))
    tracks.push({
      audioIndex: voice.audioIndex,
      sampleCount: windows.sampleCount - moved,
      places: found.map(({ place }) => place),
      lost: found.flatMap(({ place, isLost }) => (isLost ? [place.at] : [])),
      unlike: unlikeProbes(voice, windows),
    })
  }
  await proved
  return { packetHashes: lines.byInputIndex(plan), packetTimes: times.byInputIndex(plan), tracks }
}

/** The parts of a voice to decode; null for all of it. All other packets of such a track are compared as bytes. */
function sectionsOf({ splice }: MuxedVoice): readonly SampleRange[] | null {
  return splice?.kind === 'spliced' ? splice.sections : null
}

/** Clock and filter to decode a voice, or a section of it, summed to mono. */
function decoding(plan: MuxPlan, output: MediaInfo, voice: MuxedVoice, section: SampleRange | null) {
  const stream = newStreams(plan).find(({ input }) => input.audioIndex === voice.audioIndex)
  const { sampleRate, channels } = voice.format
  const sum = Array.from({ length: channels }, (_, channel) => `${channelWeight(channel)}*c${channel}`).join('+')
  const fromSample = section?.startSample ?? 0
  const written = stream && matchStreams(plan, output).get(stream)
  const own = written?.kind === 'audio' ? written : { timeBase: `1/${sampleRate}` }
  const clock = fileClock(output, { ...own, codec: stream?.encoding.codec ?? null, sampleRate }, fromSample)
  const placed = fileClockFilters(clock, { kind: 'all' }, section ? rangeFrom(section, fromSample) : undefined)
  // Opus supports few sample rates: 44.1 kHz comes back as 48 kHz.
  const filters = [`aresample=${sampleRate}`, ...placed, 'aformat=sample_fmts=flt', `pan=mono|c0=${sum}`]
  return { clock, filter: `[0:${written?.index ?? -1}]${filters.join(',')}[mono]` }
}

/** The windows of all blocks and probes, at the places where the output must have them. */
function windowsOf(voice: MuxedVoice, moved: number): SyncWindows {
  const around = 2 * syncReach(voice.format.sampleRate)
  return new SyncWindows([
    ...voice.syncSamples.map(({ atSample, values }) => ({
      from: atSample + moved,
      length: Math.max(0, values.length - around),
    })),
    ...probesOf(voice).map(({ atSample, values }) => ({ from: atSample + moved, length: values.length })),
  ])
}

/**
 * Samples by which the picture moved against the file's zero: the offset between sound and picture must not change.
 * Without a picture, Matroska starts earlier than its timestamps because of the Opus lead-in.
 */
function pictureMoved(plan: MuxPlan, output: MediaInfo, sampleRate: number): number {
  const zeroMovedSec = output.startSec - plan.media.startSec
  const isClockKept = plan.profile.priming === 'measured'
  const withoutPictureSec = isClockKept ? clockMoveSec(plan) : zeroMovedSec - earlyLeadInSec(plan)
  return Math.round(((anchorShiftSec(plan, output) ?? withoutPictureSec) - zeroMovedSec) * sampleRate)
}

function probesOf({ splice }: MuxedVoice) {
  return splice?.kind === 'spliced' ? splice.probes : []
}

function unlikeProbes(voice: MuxedVoice, windows: SyncWindows): readonly number[] {
  return probesOf(voice).flatMap(({ atSample, values, mostError }, place) =>
    // NaN fails.
    errorPower(values, windows.window(voice.syncSamples.length + place)) <= mostError ? [] : [atSample],
  )
}

/** Collects some parts of a mono stream of 32-bit floats. */
class SyncWindows {
  readonly #windows: readonly { readonly from: number; readonly values: Float64Array }[]
  #rest: Buffer = Buffer.alloc(0)
  /** Samples up to the end of what was pushed. */
  sampleCount = 0

  constructor(parts: readonly { readonly from: number; readonly length: number }[]) {
    this.#windows = parts.map(({ from, length }) => ({ from, values: new Float64Array(length) }))
  }

  /** Samples of the part at that place; zeros after the end of the stream. */
  window(place: number): Float64Array {
    return this.#windows[place]?.values ?? new Float64Array(0)
  }

  /** The next samples are those of a section that begins there. */
  begin(startSample: number): void {
    this.sampleCount = startSample
    this.#rest = Buffer.alloc(0)
  }

  push(chunk: Buffer): void {
    const bytes = this.#rest.length > 0 ? Buffer.concat([this.#rest, chunk]) : chunk
    const count = Math.floor(bytes.length / 4)
    for (const { from, values } of this.#windows) {
      const first = Math.max(from, this.sampleCount)
      const end = Math.min(from + values.length, this.sampleCount + count)
      for (let at = first; at < end; at++) {
        const value = bytes.readFloatLE((at - this.sampleCount) * 4)
        // One broken float (NaN, infinity) in the window would make the whole correlation NaN.
        values[at - from] = Number.isFinite(value) ? value : 0
      }
    }
    this.sampleCount += count
    this.#rest = bytes.subarray(count * 4)
  }
}
