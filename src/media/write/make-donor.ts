import { basename, dirname, join } from 'node:path'
import type { PcmStream } from '../pcm/pcm.js'
import { encoderPriming } from './encode/encoder-priming.js'
import { encodeDonor } from './encode-donor.js'
import { encodedKind, readEncoded } from './encoded-packets.js'
import type { MuxedVoice, MuxRunOptions } from './remux/mux.js'
import type { MuxPlan } from './remux/mux-plan.js'
import type { NewStream } from './remux/plan-streams.js'
import { feedOf } from './remux/voice-input.js'
import type { SpliceJob } from './splice/splice-job.js'
import { spliceTrack } from './splice/splice-track.js'
import { type DonorSource, SplicedPackets } from './splice/spliced-packets.js'
import type { DonorFormat } from './writer.js'
import type { Writing } from './writing.js'

/** The temporary files of an output. */
export class SideFiles {
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

/** An encoded voice, and where its packets are. */
export interface MadeDonor {
  readonly source: DonorSource
  readonly voice: Omit<MuxedVoice, 'encoded'>
  /** Read beside the writing of the output. */
  readonly encoded: Promise<MuxedVoice['encoded']>
  readonly runs: readonly (readonly string[])[]
}

const NOT_COMPARED = Promise.resolve(null)

/** An output that is the input's own bytes with new audio. */
export interface ByteWriting {
  readonly plan: MuxPlan
  readonly writing: Writing & { readonly kind: 'bytes' }
  readonly voices: ReadonlyMap<number, PcmStream>
  readonly side: SideFiles
  readonly options: MuxRunOptions
}

/**
 * Encodes a voice into side files: its changed parts alone if all other packets can stay, else from start to end.
 *
 * @param place of the stream among the replaced tracks
 */
export async function makeDonor(job: ByteWriting, place: number, stream: NewStream): Promise<MadeDonor> {
  const { plan, writing, options } = job
  const format = writing.donors[place] as DonorFormat
  const { audioIndex } = stream.input
  if (!plan.splicedTracks?.includes(audioIndex)) return wholeDonor(job, stream, format, null)
  const { unjoined } = options
  const failed = unjoined ? `the joined packets failed verification (${unjoined})` : null
  const changed = options.changed?.get(audioIndex)
  const track = changed ? await writing.splice(place) : null
  if (!changed || track === null || typeof track === 'string') return wholeDonor(job, stream, format, failed)
  return splicedDonor(job, stream, format, { track, changed })
}

/** Encodes the changed parts, or all of the voice if a joint does not hold. */
async function splicedDonor(
  job: ByteWriting,
  stream: NewStream,
  format: DonorFormat,
  { track, changed }: Pick<SpliceJob, 'track' | 'changed'>,
): Promise<MadeDonor> {
  const { plan, voices, side, options } = job
  const { media } = plan
  const { encoding, input } = stream
  const given = feedOf(plan, stream, voices)
  const { feed } = given
  const donorPath = side.scratch()
  const parts = { media, input, encoding, voice: feed.stream, changed, signal: options.signal }
  const done = await spliceTrack({ ...parts, track, donorPath, scratch: side.scratch })
  if (done.kind === 'whole') return wholeDonor(job, stream, format, done.reason)
  const packets = new SplicedPackets(track.packets, done.swaps)
  const { kind, probes } = done
  const splice = { kind, count: track.packets.count, replaced: packets.replaced, probes, sections: feed.sections }
  const donor = side.donor(donorPath)
  return {
    source: { kind: 'spliced', packets, track, donor },
    voice: muxed(given, format, splice),
    encoded: NOT_COMPARED,
    runs: done.runs,
  }
}

/** @param reason why no packet of the track stays, if some were meant to */
async function wholeDonor(
  { plan, voices, side, options }: ByteWriting,
  stream: NewStream,
  format: DonorFormat,
  reason: string | null,
): Promise<MadeDonor> {
  // A splice that did not hold has read the voice already.
  const given = feedOf(plan, stream, voices)
  const path = side.scratch()
  const trimmed = await withoutPriming(format, given, options.signal)
  const runs = await encodeDonor(given.feed, { path, encoding: stream.encoding, donor: trimmed }, options.signal)
  const splice = reason === null ? null : ({ kind: 'whole', reason } as const)
  const kind = encodedKind(plan.writing, stream.encoding, format)
  const facts = { encoding: stream.encoding, donor: format, format: given.voice.format, signal: options.signal }
  const encoded = kind === null ? NOT_COMPARED : readEncoded(path, kind, facts)
  // Awaited once the output is written. A fault before that must not leave it unhandled.
  encoded.catch(() => {})
  const source = { kind: 'file', path, donor: side.donor(path) } as const
  return { source, voice: muxed(given, trimmed, splice), encoded, runs }
}

type Given = ReturnType<typeof feedOf>

function muxed(
  { stream, voice, feed }: Given,
  { skipSamples, sampleCount }: DonorFormat,
  splice: MuxedVoice['splice'],
): MadeDonor['voice'] {
  return {
    ...{ audioIndex: stream.input.audioIndex, format: voice.format, skippedSamples: skipSamples },
    ...{ syncSamples: feed.syncSamples, splice },
    sampleCount: sampleCount === null ? feed.sampleCount : skipSamples + sampleCount,
  }
}

/** Replaces the first samples by priming that no header can signal, so that later samples stay in place. */
async function withoutPriming(
  donor: DonorFormat,
  { stream, voice }: Given,
  signal: AbortSignal | undefined,
): Promise<DonorFormat> {
  if (donor.priming !== 'trimmed') return donor
  const { encoding } = stream
  const primingSamples = await encoderPriming(encoding, voice.format, signal)
  const { skipSamples, sampleCount } = donor
  const left = sampleCount === null ? null : Math.max(0, sampleCount - primingSamples)
  return { ...donor, skipSamples: skipSamples + primingSamples, sampleCount: left }
}
