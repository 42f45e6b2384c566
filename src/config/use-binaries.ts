import { keepToolFactsIn } from '../media/ffmpeg/tool-memory.js'
import type { Config } from './resolve-config.js'

/**
 * Applies the configured ffmpeg and ffprobe. The media code reads only the environment, so they are set there for this
 * process. Facts about them are kept in the state folder.
 */
export function useConfiguredBinaries({
  ffmpeg,
  ffprobe,
  stateDir,
}: Pick<Config, 'ffmpeg' | 'ffprobe' | 'stateDir'>): void {
  if (ffmpeg !== null) process.env.VOXMUX_FFMPEG = ffmpeg
  if (ffprobe !== null) process.env.VOXMUX_FFPROBE = ffprobe
  keepToolFactsIn(stateDir)
}
