import { type Config, type Flags, resolveConfig } from '../config/resolve-config.js'
import type { CommandContext } from './command.js'

/** What every command that reads the configuration needs of its arguments. */
export interface ConfigArguments {
  readonly config?: string | undefined
}

/**
 * Resolves the configuration of a command, says its notes once, and makes the configured ffmpeg and ffprobe those
 * that are found.
 */
export async function loadConfig(
  { config: configPath }: ConfigArguments,
  flags: Flags,
  { cwd, env, output }: CommandContext,
): Promise<Config> {
  const config = await resolveConfig({ cwd, env, flags, configPath })
  for (const note of config.notes) output.note(note)
  // The media room reads the environment alone: what a file configures is put there for this process.
  if (config.ffmpeg !== null) process.env.VOXMUX_FFMPEG = config.ffmpeg
  if (config.ffprobe !== null) process.env.VOXMUX_FFPROBE = config.ffprobe
  return config
}
