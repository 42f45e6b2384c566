import { type Config, type Flags, resolveConfig } from '../config/resolve-config.js'
import { useConfiguredBinaries } from '../config/use-binaries.js'
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
  useConfiguredBinaries(config)
  return config
}
