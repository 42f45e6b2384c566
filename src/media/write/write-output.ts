import { rm } from 'node:fs/promises'
import type { PcmStream } from '../pcm/pcm.js'
import { lengthOf } from './byte-plan.js'
import { copyPlan } from './copy-plan.js'
import { renewLevels } from './level/renew-levels.js'
import { type ByteWriting, type MadeDonor, makeDonor, SideFiles } from './make-donor.js'
import { type PacketFacts, readPacketFacts } from './packet-facts.js'
import { type MuxResult, type MuxRunOptions, mux } from './remux/mux.js'
import { newStreams } from './remux/mux-command.js'
import type { MuxPlan } from './remux/mux-plan.js'

export interface WriteOutputOptions extends MuxRunOptions {
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
  options: WriteOutputOptions = {},
): Promise<MuxResult> {
  const { writing } = plan
  if (writing.kind === 'remux') return mux(plan, voices, partPath, options)
  const side = new SideFiles(partPath, options)
  try {
    return await writeBytes({ plan, writing, voices, side, options }, partPath)
  } catch (error) {
    await rm(partPath, { force: true })
    throw error
  } finally {
    await Promise.all(side.all.map((path) => rm(path, { force: true })))
  }
}

async function writeBytes(
  job: ByteWriting & { readonly options: WriteOutputOptions },
  partPath: string,
): Promise<MuxResult> {
  const { plan, writing, side } = job
  const { signal, onProgressSec, packetFacts } = job.options
  const made: MadeDonor[] = []
  for (const [place, stream] of newStreams(plan).entries()) made.push(await makeDonor(job, place, stream))
  const layout = await writing.layOut(
    made.map(({ source }) => source),
    signal,
  )
  const sizeBytes = lengthOf(layout.pieces)
  const toSec = (bytes: number) => ((plan.media.durationSec ?? 0) * bytes) / Math.max(1, sizeBytes)
  await copyPlan(layout, partPath, {
    input: plan.media.path,
    donors: side.donors,
    signal,
    onProgress: (bytes) => onProgressSec?.(toSec(bytes)),
  })
  const audioIndex = made[0]?.voice.audioIndex ?? 0
  const { media, container } = plan
  await renewLevels(writing.levels, { media, container, audioIndex, layout, partPath, signal })
  const facts = packetFacts ?? (await readPacketFacts(plan, signal))
  const voices = await Promise.all(made.map(async ({ voice, encoded }) => ({ ...voice, encoded: await encoded })))
  return { runs: made.flatMap(({ runs }) => runs), voices, layout, ...facts }
}
