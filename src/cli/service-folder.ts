import { join, resolve } from 'node:path'
import { ensureStateFolder, resolveConfig } from '../config/index.js'

/**
 * The folder of the service: `--data`, or the folder of the embedded service. `serve` and `portal` therefore share keys
 * and files with `run`. Creates the folder if it does not exist.
 */
export async function serviceFolder(
  data: string | undefined,
  { cwd, env }: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Promise<string> {
  if (data !== undefined) return ensureStateFolder(resolve(cwd, data))
  const { stateDir } = await resolveConfig({ cwd, env })
  await ensureStateFolder(stateDir)
  return ensureStateFolder(join(stateDir, 'service'))
}
