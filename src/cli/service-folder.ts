import { join, resolve } from 'node:path'
import { ensureStateFolder, resolveConfig } from '../config/index.js'

/**
 * The folder of the service: what `--data` names, else that of the embedded service, so that `serve` and `portal`
 * speak of the same keys and files as `run`. Made where it is not there.
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
