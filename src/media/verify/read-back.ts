import type { VoxmuxError } from '../../core/errors.js'
import { isDoubtful, isReadable } from '../ffmpeg/blaming-file.js'
import {
  type FfmpegCommand,
  type FfmpegOutput,
  type FfmpegRunOptions,
  runFfmpeg,
  streamFfmpeg,
} from '../ffmpeg/ffmpeg.js'
import type { MediaInfo } from '../media-info.js'
import { channelWeight } from '../pcm/channel-weight.js'
import { fileClockFilters } from '../pcm/clock-filters.js'
import { clockedInput, fileClock, rangeFrom } from '../pcm/file-clock.js'
import { wholeFrames } from '../pcm/pcm-streams.js'
import type { SampleRange } from '../voice-cut.js'
import { encodedKind, WITHOUT_EDITS } from '../write/encoded-packets.js'
import { earlyPrimingSec } from '../write/remux/first-sound.js'
import type { MuxedVoice, MuxResult } from '../write/remux/mux.js'
import { clockMoveSec, newStreams } from '../write/remux/mux-command.js'
import type { MuxPlan, PlannedStream } from '../write/remux/mux-plan.js'
import { PacketTimes, timesOutput } from '../write/remux/packet-times.js'
import { HashLines, hashOutput } from '../write/remux/stream-hash.js'
import { readsAllPackets } from './encoded-differences.js'
import { findVoice, type TrackReadBack, windowsOf } from './find-voice.js'
import { matchStreams } from './match-streams.js'
import type { SyncWindows } from './sync-windows.js'
import { anchorShiftSec } from './table-differences.js'

/**
 * Reads an output once: hashes its copied packets and decodes its first new track. Each further new track takes
 * another reading. A track that changed in parts is decoded only around these, if its voice was read so.
 */
export async function readBack(plan: MuxPlan, result: MuxResult, output: MediaInfo, signal: AbortSignal | undefined) {
  const lines = new HashLines()
  const { writing } = plan
  const donors = writing.kind === 'remux' ? [] : writing.donors
  const madeAs = (kind: string) =>
    newStreams(plan).filter(({ encoding }, place) => encodedKind(writing, encoding, donors[place]) === kind)
  const [parts, samples] = [madeAs('packets'), madeAs('samples')]
  // A voice that is decoded from its start has the packets read beside it.
  const bearer = result.voices.findIndex((voice) => sectionsOf(voice) === null)
  const times = new PacketTimes(parts)
  const matched = matchStreams(plan, output)
  const indexOf = (stream: PlannedStream) => matched.get(stream)?.index ?? -1
  const proofs = [...hashOutput(plan, indexOf, samples), ...timesOutput(plan, indexOf, parts, bearer < 0 ? 0 : 1)]
  const tracks: TrackReadBack[] = []
  const options = {
    signal,
    input: output.path,
    takeStderrLine: (line: string) => lines.take(line),
    onFactLine: (line: string) => times.take(line),
  }
  const isAlone = bearer < 0 && proofs.length > 0
  const proved = isAlone ? runFfmpeg({ inputs: [clockedInput(output)], outputs: proofs }, options) : undefined
  // Awaited at the end. A fault of a voice must not leave it unhandled.
  proved?.catch(() => {})
  for (const [place, voice] of result.voices.entries()) {
    const moved = pictureMoved(plan, output, voice.format.sampleRate)
    const decode = (globalOptions: readonly string[]) => {
      const ignoresEdits = readsAllPackets(writing, result)
      const reading = { output, globalOptions, moved, beside: place === bearer ? proofs : [], ignoresEdits }
      return decodeVoice(plan, voice, reading, options)
    }
    // A damaged packet must fail the check.
    const windows = await decode(['-xerror']).catch(async (error: VoxmuxError) => {
      // ffmpeg calls a few stray bytes at the end of an ADTS file a fault of the disk.
      const isDisk = error.exitCode === 4 && !(isDoubtful(error) && (await isReadable(output.path, signal)))
      // A byte writer keeps damaged bytes of the input, so the output may have them too.
      if (plan.writing.kind === 'remux' || error.exitCode === 130 || isDisk) throw error
      return decode([])
    })
    const stream = newStreams(plan).find(({ input }) => input.audioIndex === voice.audioIndex)
    tracks.push(findVoice(windows, voice, moved, stream?.encoding.codec))
  }
  await proved
  return { packetHashes: lines.byInputIndex(plan, samples), packetTimes: times.byInputIndex(plan), tracks }
}

interface Reading {
  readonly output: MediaInfo
  readonly globalOptions: readonly string[]
  /** Samples by which the picture moved. */
  readonly moved: number
  /** Further outputs of the same reading. */
  readonly beside: readonly FfmpegOutput[]
  /** True if edit lists hide no packet of the new sound. */
  readonly ignoresEdits: boolean
}

/** An output whose new packets are compared. Those that stayed are read as in the input. */
function packetInput(output: MediaInfo, ignoresEdits: boolean): FfmpegCommand['inputs'][number] {
  const { url, options } = clockedInput(output)
  return { url, options: ignoresEdits ? [...options, ...WITHOUT_EDITS] : options }
}

/** Decodes the compared parts of a voice. */
async function decodeVoice(
  plan: MuxPlan,
  voice: MuxedVoice,
  { output, globalOptions, moved, beside, ignoresEdits }: Reading,
  options: FfmpegRunOptions,
): Promise<SyncWindows> {
  const windows = windowsOf(voice, moved)
  const mono = { url: 'pipe:1', options: ['-map', '[mono]', '-c:a', 'pcm_f32le', '-f', 'f32le'] }
  for (const section of sectionsOf(voice) ?? [null]) {
    const { clock, filter } = decoding(plan, output, voice, section)
    // Read once more for the packets of the voice itself. ffmpeg would move the voice, because it counts both in one place.
    const again = beside.some(({ options: maps }) => maps.some((map) => map.startsWith('1:')))
    const inputs = [clockedInput(output, clock), ...(again ? [packetInput(output, ignoresEdits)] : [])]
    const command = { globalOptions, inputs, filterComplex: filter, outputs: [mono, ...beside] }
    const { stdout, done } = streamFfmpeg(command, options)
    windows.begin(clock.fromSample)
    for await (const chunk of wholeFrames(stdout, 4)) windows.push(chunk)
    await done
  }
  return windows
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
  const own = written?.kind === 'audio' ? written : { timeBase: `1/${sampleRate}`, channels }
  const clock = fileClock(output, { ...own, codec: stream?.encoding.codec ?? null, sampleRate }, fromSample)
  const placed = fileClockFilters(clock, { kind: 'all' }, section ? rangeFrom(section, fromSample) : undefined)
  // Opus supports few sample rates: 44.1 kHz comes back as 48 kHz.
  const filters = [`aresample=${sampleRate}`, ...placed, 'aformat=sample_fmts=flt', `pan=mono|c0=${sum}`]
  return { clock, filter: `[0:${written?.index ?? -1}]${filters.join(',')}[mono]` }
}

/**
 * Samples by which the picture moved against the file's zero: the offset between sound and picture must not change.
 * Without a picture, Matroska starts earlier than its timestamps because of the Opus priming.
 */
function pictureMoved(plan: MuxPlan, output: MediaInfo, sampleRate: number): number {
  const zeroMovedSec = output.startSec - plan.media.startSec
  const isClockKept = plan.profile.priming === 'measured'
  const withoutPictureSec = isClockKept ? clockMoveSec(plan) : zeroMovedSec - earlyPrimingSec(plan)
  return Math.round(((anchorShiftSec(plan, output) ?? withoutPictureSec) - zeroMovedSec) * sampleRate)
}
