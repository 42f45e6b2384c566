import { type Config, type Flags, resolveConfig } from '../config/resolve-config.js'
import { useConfiguredBinaries } from '../config/use-binaries.js'
import type { CommandContext } from './command.js'

/** Resolves the configuration of a command, prints its notes, and uses the configured ffmpeg and ffprobe. */
export async function loadConfig(
  { config: configPath }: { readonly config?: string | undefined },
  flags: Flags,
  { cwd, env, output }: CommandContext,
): Promise<Config> {
  const config = await resolveConfig({ cwd, env, flags, configPath })
  for (const note of config.notes) output.note(note)
  useConfiguredBinaries(config)
  return config
}
