import { stat } from 'node:fs/promises'
import { requireFreeSpace } from '../../src/pipeline/output/free-space.js'
import { formatOfFrame, sampleRateOf } from './audio-frames.js'
import type { PackageFolder } from './package-folder.js'
import type { HlsPackage, Rendition } from './read-package.js'
import { readResource, soundBytes, soundRuns } from './sound-run.js'

/** The samples are decoded to 32-bit floats. */
const SAMPLE_BYTES = 4

/**
 * Requires the space for a new package and for the sound on the way to it, before any of it is sent. The sound of one
 * programme is removed before the next begins.
 *
 * @param place folder in which the new package and the work on it will lie
 * @param programmes the renditions to regenerate
 * @throws {TransientError} `ERR_DISK_FULL`
 */
export async function requireSpace(
  { media }: HlsPackage,
  folder: PackageFolder,
  place: string,
  programmes: readonly (readonly Rendition[])[],
): Promise<void> {
  let neededBytes = 0
  for (const path of media.keys()) neededBytes += (await stat(await folder.file(path))).size
  let workBytes = 0
  for (const programme of programmes) {
    const needs = await Promise.all(programme.map((rendition) => bytesOf(folder, rendition)))
    const encoded = needs.reduce((sum, need) => sum + need.encoded, 0)
    const decoded = needs.reduce((sum, need) => sum + need.decoded, 0)
    // The new segments, which `addTrack` puts beside the old ones. Without it, they are in their place.
    neededBytes += encoded
    // The frames before and after, and the regenerated audio. Each rendition may need its own.
    workBytes = Math.max(workBytes, 2 * encoded + 2 * decoded)
  }
  await requireFreeSpace(new Map([[place, neededBytes + workBytes]]))
}

/** Bytes of a rendition's sound in its segments, and as samples. */
async function bytesOf(folder: PackageFolder, rendition: Rendition) {
  let decoded = 0
  for (const { segments, openFormat } of await soundRuns(folder, rendition)) {
    const [first] = segments
    const [frame] = first ? openFormat().framesOf(await readResource(folder, rendition, first)) : []
    if (!frame) continue
    const format = formatOfFrame(frame, rendition.path)
    const sec = segments.reduce((sum, { durationSec }) => sum + durationSec, 0)
    // A channel configuration of 7 means eight channels.
    const channels = format.channelConfiguration === 7 ? 8 : format.channelConfiguration
    decoded += Math.ceil(sec * sampleRateOf(format)) * channels * SAMPLE_BYTES
  }
  return { encoded: await soundBytes(folder, rendition), decoded }
}
