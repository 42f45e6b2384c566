import { rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { PcmStream } from '../pcm/pcm.js'
import { planSize } from './byte-plan.js'
import { copyPlan } from './copy-plan.js'
import { encoderPriming } from './encode/encoder-priming.js'
import { encodeDonor } from './encode-donor.js'
import { type PacketFacts, readPacketFacts } from './packet-facts.js'
import { type MuxedVoice, type MuxResult, type MuxRunOptions, mux } from './remux/mux.js'
import { newStreams } from './remux/mux-command.js'
import type { MuxPlan } from './remux/mux-plan.js'
import type { NewStream } from './remux/plan-streams.js'
import type { VoiceFeed } from './remux/voice-feed.js'
import { feedOf } from './remux/voice-input.js'
import { spliceTrack } from './splice/splice-track.js'
import { type DonorSource, SplicedPackets } from './splice/spliced-packets.js'
import type { DonorFormat } from './writer.js'
import type { Writing } from './writing.js'

export interface WriteOptions extends MuxRunOptions {
  /** Facts of the input's packets, if it was read before. */
  readonly packetFacts?: PacketFacts | undefined
}

/**
 * Writes the output of a plan; the caller syncs it. Removes the part file after an error.
 *
 * @param voices by place among the audio streams; sample 0 is the file's zero
 * @throws {UsageError} ERR_VOICE_MISSING
 * @throws {JobFailedError} ERR_INPUT_CHANGED; the typed errors of ffmpeg
 */
export async function writeOutput(
  plan: MuxPlan,
  voices: ReadonlyMap<number, PcmStream>,
  partPath: string,
  options: WriteOptions = {},
): Promise<MuxResult> {
  const { writing } = plan
  if (writing.kind === 'remux') return mux(plan, voices, partPath, options)
  const side = new SideFiles(partPath, options)
  try {
    return await writeBytes(plan, writing, voices, partPath, side, options)
  } catch (error) {
    await rm(partPath, { force: true })
    throw error
  } finally {
    await Promise.all(side.all.map((path) => rm(path, { force: true })))
  }
}

/** The temporary files of an output. */
class SideFiles {
  readonly all: string[] = []
  /** Those with packets. Pieces of a layout refer to them by place. */
  readonly donors: string[] = []
  readonly #stem: string

  constructor(partPath: string, { workFolder = dirname(partPath) }: MuxRunOptions) {
    this.#stem = join(workFolder, `${basename(partPath)}.donor`)
  }

  /** Path of a file whose content is not part of the output. */
  readonly scratch = (): string => {
    const path = `${this.#stem}${this.all.length}`
    this.all.push(path)
    return path
  }

  /** Place of a side file that has packets. Call it once the file exists. */
  readonly donor = (path: string): number => this.donors.push(path) - 1
}

async function writeBytes(
  plan: MuxPlan,
  writing: Writing & { readonly kind: 'bytes' },
  voices: ReadonlyMap<number, PcmStream>,
  partPath: string,
  side: SideFiles,
  options: WriteOptions,
): Promise<MuxResult> {
  const { signal, onProgressSec, packetFacts } = options
  const runs: (readonly string[])[] = []
  const written: MuxResult['voices'][number][] = []
  const sources: DonorSource[] = []
  for (const [place, stream] of newStreams(plan).entries()) {
    const made = await makeDonor(plan, writing, { place, stream }, voices, side, options)
    runs.push(...made.runs)
    sources.push(made.source)
    written.push(made.voice)
  }
  const layout = await writing.layOut(sources, signal)
  const sizeBytes = planSize(layout)
  const toSec = (bytes: number) => ((plan.media.durationSec ?? 0) * bytes) / Math.max(1, sizeBytes)
  await copyPlan(layout, partPath, {
    input: plan.media.path,
    donors: side.donors,
    signal,
    onProgress: (bytes) => onProgressSec?.(toSec(bytes)),
  })
  return { runs, voices: written, ...(packetFacts ?? (await readPacketFacts(plan, signal))) }
}

interface MadeDonor {
  readonly source: DonorSource
  readonly voice: MuxedVoice
  readonly runs: readonly (readonly string[])[]
}

/** Encodes a voice: its changed parts alone if all other packets can stay, else from start to end. */
async function makeDonor(
  plan: MuxPlan,
  writing: Writing & { readonly kind: 'bytes' },
  { place, stream }: { readonly place: number; readonly stream: NewStream },
  voices: ReadonlyMap<number, PcmStream>,
  side: SideFiles,
  { signal, changed, unjoined }: MuxRunOptions,
): Promise<MadeDonor> {
  const planned = writing.donors[place] as DonorFormat
  const { audioIndex } = stream.input
  const { voice, feed } = feedOf(plan, stream, voices)
  const muxed = (used: VoiceFeed, { skipSamples, sampleCount }: DonorFormat, splice: MuxedVoice['splice']) => ({
    ...{ audioIndex, format: voice.format, skippedSamples: skipSamples, syncSamples: used.syncSamples, splice },
    sampleCount: sampleCount === null ? used.sampleCount : skipSamples + sampleCount,
  })
  const ranges = changed?.get(audioIndex)
  let splice: MuxedVoice['splice'] = null
  const isPlanned = plan.splicedTracks?.includes(audioIndex) ?? false
  if (isPlanned && unjoined) splice = { kind: 'whole', reason: `the joined packets failed verification (${unjoined})` }
  const track = ranges && isPlanned ? await writing.splice(place) : null
  if (ranges && track && typeof track !== 'string') {
    const { encoding, input } = stream
    const donorPath = side.scratch()
    const job = { media: plan.media, input, encoding, voice: feed.stream, changed: ranges, signal }
    const done = await spliceTrack({ ...job, track, donorPath, scratch: side.scratch })
    if (done.kind === 'spliced') {
      const packets = new SplicedPackets(track.packets, done.swaps)
      const { kind, probes } = done
      const { count } = track.packets
      const fate = { kind, count, replaced: packets.replaced, probes, sections: feed.sections }
      const donor = side.donor(donorPath)
      return { source: { kind: 'spliced', packets, track, donor }, voice: muxed(feed, planned, fate), runs: done.runs }
    }
    splice = done
  }
  const path = side.scratch()
  // A splice that did not hold has read the voice already.
  const again = track ? feedOf(plan, stream, voices).feed : feed
  const trimmed = await withoutLeadIn(planned, stream, voice, signal)
  const runs = await encodeDonor(again, stream.encoding, trimmed, path, signal)
  return { source: { kind: 'file', path, donor: side.donor(path) }, voice: muxed(again, trimmed, splice), runs }
}

/** Replaces the first samples by a lead-in that no header can signal, so that later samples stay in place. */
async function withoutLeadIn(
  donor: DonorFormat,
  { encoding }: NewStream,
  { format }: PcmStream,
  signal: AbortSignal | undefined,
): Promise<DonorFormat> {
  if (donor.leadIn !== 'trimmed') return donor
  const primingSamples = await encoderPriming(encoding, format, signal)
  return { ...donor, skipSamples: donor.skipSamples + primingSamples }
}
