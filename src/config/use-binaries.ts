import type { Config } from './resolve-config.js'

/**
 * Makes the configured ffmpeg and ffprobe those that are found: the media room reads the environment alone, so what a
 * file configures is put there for this process.
 */
export function useConfiguredBinaries({ ffmpeg, ffprobe }: Pick<Config, 'ffmpeg' | 'ffprobe'>): void {
  if (ffmpeg !== null) process.env.VOXMUX_FFMPEG = ffmpeg
  if (ffprobe !== null) process.env.VOXMUX_FFPROBE = ffprobe
}
