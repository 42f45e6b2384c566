import { PrecheckError } from '../../src/core/errors.js'
import { formatOfFrame } from './audio-frames.js'
import type { PackageFolder } from './package-folder.js'
import type { HlsPackage, Rendition } from './read-package.js'
import { type PackagedRun, readResource, soundRuns } from './sound-run.js'

/**
 * Checks everything that will be copied or replaced before any of it is sent. Otherwise a fault in the last language
 * would only be found after the first is paid for.
 *
 * @throws PrecheckError ERR_HLS_FILE_MISSING, ERR_HLS_OUTSIDE, ERR_HLS_CODEC, ERR_HLS_SEGMENT, ERR_HLS_MUXED_AUDIO,
 *   ERR_HLS_ENCRYPTED, ERR_HLS_PLAYLIST
 */
export async function requireReplaceable(
  { renditions, media }: HlsPackage,
  folder: PackageFolder,
  signal: AbortSignal | undefined,
): Promise<void> {
  for (const path of media.keys()) await folder.file(path)
  for (const rendition of renditions) {
    requireOrder(folder, rendition)
    for (const run of await soundRuns(folder, rendition)) await requireFrames({ folder, rendition, run }, signal)
  }
}

/** Each part of a file is played once, and from front to back. */
function requireOrder(folder: PackageFolder, { path, playlist }: Rendition): void {
  const ends = new Map<string, number>()
  for (const { uri, range } of playlist.segments) {
    const file = folder.locate(uri, path)
    if ((range?.offset ?? 0) < (ends.get(file) ?? 0)) {
      throw new PrecheckError('ERR_HLS_PLAYLIST', `${path} names parts of ${uri} twice, or out of order.`, {
        input: path,
        remedies: ['Package the film again, with segments that are played once.'],
      })
    }
    ends.set(file, range ? range.offset + range.length : Number.POSITIVE_INFINITY)
  }
}

/** Every segment is made of frames that can be replaced. */
async function requireFrames({ folder, rendition, run }: PackagedRun, signal: AbortSignal | undefined): Promise<void> {
  const format = run.openFormat()
  for (const segment of run.segments) {
    signal?.throwIfAborted()
    const bytes = await readResource(folder, rendition, segment)
    try {
      const [frame] = format.framesOf(bytes)
      if (frame) formatOfFrame(frame, rendition.path)
    } catch (error) {
      throw error instanceof PrecheckError && error.code === 'ERR_HLS_SEGMENT' ? unreadable(segment.uri, error) : error
    }
  }
}

function unreadable(uri: string, cause: PrecheckError): PrecheckError {
  const { input, remedies } = cause
  return new PrecheckError('ERR_HLS_SEGMENT', `${uri}: ${cause.message}`, { input, remedies, cause })
}
