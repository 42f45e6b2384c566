import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { makeFolder } from '../../src/core/make-folder.js'
import type { PackageFolder } from './package-folder.js'
import type { Rendition } from './read-package.js'
import type { AcceptSound } from './require-accepted.js'
import { decodeRun, soundRuns } from './sound-run.js'

interface SoundOptions {
  /** Folder for temporary files, which are removed. */
  readonly workFolder: string
  readonly accept: AcceptSound
  readonly signal: AbortSignal | undefined
}

/**
 * Decodes all sound that will be sent before any of it is. Otherwise damage in frames of the last language would only be
 * found after the first is paid for.
 *
 * @throws PrecheckError ERR_HLS_CODEC, ERR_HLS_SEGMENT; and what `accept` throws
 */
export async function requireSound(
  renditions: readonly Rendition[],
  folder: PackageFolder,
  { workFolder, accept, signal }: SoundOptions,
): Promise<void> {
  makeFolder(workFolder)
  const paths = { frames: join(workFolder, 'run.aac'), wave: join(workFolder, 'run.wav') }
  for (const rendition of renditions) {
    for (const run of await soundRuns(folder, rendition)) {
      await decodeRun({ folder, rendition, run }, paths, signal)
      const keepsChannels = run.segments.some(({ map }) => map !== null)
      await accept(paths.wave, { path: rendition.path, keepsChannels }, signal)
    }
  }
  await rm(workFolder, { recursive: true })
}
