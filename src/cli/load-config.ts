import { type Config, type Flags, resolveConfig } from '../config/resolve-config.js'
import { useConfiguredBinaries } from '../config/use-binaries.js'
import type { CommandContext } from './command.js'

/** The arguments that find the configuration. */
interface ConfigArguments {
  readonly config?: string | undefined
}

/** Resolves the configuration of a command, prints its notes, and uses the configured ffmpeg and ffprobe. */
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
