import { rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { syncFile } from '../../core/sync-folder.js'
import type { PcmStream } from '../pcm/pcm.js'
import { planSize } from './byte-plan.js'
import { copyPlan } from './copy-plan.js'
import { encoderPriming } from './encode/encoder-priming.js'
import { encodeDonor } from './encode-donor.js'
import { type PacketFacts, readPacketFacts } from './packet-facts.js'
import { feedOf, type MuxResult, type MuxRunOptions, mux } from './remux/mux.js'
import { type ReplacedStream, replacedStreams } from './remux/mux-command.js'
import type { MuxPlan } from './remux/mux-plan.js'
import type { DonorFormat } from './writer.js'
import type { Writing } from './writing.js'

export interface WriteOptions extends MuxRunOptions {
  /** Facts of the input's packets, if it was read before. */
  readonly packetFacts?: PacketFacts | undefined
}

/**
 * Writes the output of a plan. Removes the part file after an error.
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
  const donorPaths = replacedStreams(plan).map((_, place) => donorPath(partPath, place, options))
  try {
    return await writeBytes(plan, writing, voices, partPath, donorPaths, options)
  } catch (error) {
    await rm(partPath, { force: true })
    throw error
  } finally {
    await Promise.all(donorPaths.map((path) => rm(path, { force: true })))
  }
}

function donorPath(partPath: string, place: number, { workFolder = dirname(partPath) }: MuxRunOptions): string {
  return join(workFolder, `${basename(partPath)}.donor${place}`)
}

async function writeBytes(
  plan: MuxPlan,
  writing: Writing & { readonly kind: 'bytes' },
  voices: ReadonlyMap<number, PcmStream>,
  partPath: string,
  donorPaths: readonly string[],
  { signal, onProgressSec, packetFacts }: WriteOptions,
): Promise<MuxResult> {
  const runs: (readonly string[])[] = []
  const written: MuxResult['voices'][number][] = []
  for (const [place, stream] of replacedStreams(plan).entries()) {
    const planned = writing.donors[place]
    const { voice, feed } = feedOf(plan, stream, voices)
    if (!planned) continue
    const donor = await withoutLeadIn(planned, stream, voice, signal)
    runs.push(...(await encodeDonor(feed, stream.encoding, donor, donorPaths[place] ?? '', signal)))
    written.push({
      audioIndex: stream.input.audioIndex,
      format: voice.format,
      sampleCount: donor.sampleCount === null ? feed.sampleCount : donor.skipSamples + donor.sampleCount,
      skippedSamples: donor.skipSamples,
      syncSamples: feed.syncSamples,
    })
  }
  const layout = await writing.layOut(donorPaths, signal)
  const sizeBytes = planSize(layout)
  const toSec = (bytes: number) => ((plan.media.durationSec ?? 0) * bytes) / Math.max(1, sizeBytes)
  await copyPlan(layout, partPath, {
    input: plan.media.path,
    donors: donorPaths,
    signal,
    onProgress: (bytes) => onProgressSec?.(toSec(bytes)),
  })
  await syncFile(partPath)
  return { runs, voices: written, ...(packetFacts ?? (await readPacketFacts(plan, signal))) }
}

/** Replaces the first samples by a lead-in that no header can signal, so that later samples stay in place. */
async function withoutLeadIn(
  donor: DonorFormat,
  { encoding }: ReplacedStream,
  { format }: PcmStream,
  signal: AbortSignal | undefined,
): Promise<DonorFormat> {
  if (donor.leadIn !== 'trimmed') return donor
  const primingSamples = await encoderPriming(encoding, format, signal)
  return { ...donor, skipSamples: donor.skipSamples + primingSamples }
}
