import type { Config } from './resolve-config.js'

/**
 * Applies the configured ffmpeg and ffprobe. The media code reads only the environment, so they are set there for this
 * process.
 */
export function useConfiguredBinaries({ ffmpeg, ffprobe }: Pick<Config, 'ffmpeg' | 'ffprobe'>): void {
  if (ffmpeg !== null) process.env.VOXMUX_FFMPEG = ffmpeg
  if (ffprobe !== null) process.env.VOXMUX_FFPROBE = ffprobe
}
