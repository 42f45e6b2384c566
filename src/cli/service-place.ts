import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { ensureStateFolder, resolveConfig } from '../config/index.js'
import { UsageError } from '../core/errors.js'
import { shellWord } from '../core/shell-word.js'
import { refuseShownPassword } from '../pipeline/job/open-store.js'
import { holdsService } from '../service/store/open-node-store.js'
import type { CommandContext } from './command.js'

/** Flags of `serve` and `portal` that locate the service. */
interface ServicePlaceFlags {
  readonly data?: string | undefined
  readonly store?: string | undefined
}

type Surroundings = Pick<CommandContext, 'cwd' | 'env'>

/**
 * The shared store of the service: `--store`, or `VOXMUX_STORE`. Undefined if the service keeps its state in its
 * folder.
 *
 * @throws UsageError `ERR_STORE_PASSWORD_SHOWN`
 */
export function sharedStore({ store }: ServicePlaceFlags, env: NodeJS.ProcessEnv): string | undefined {
  if (store !== undefined) refuseShownPassword(store)
  return store ?? (env.VOXMUX_STORE || undefined)
}

/**
 * The folder of a node. Nodes of a shared store also share this folder, so it must be named. With a blob store each
 * node has its own folder.
 *
 * @throws UsageError `ERR_DATA_NOT_NAMED`, `ERR_STATE_DIR`
 */
export async function nodeFolder(
  { data }: ServicePlaceFlags,
  { isShared, around }: { readonly isShared: boolean; readonly around: Surroundings },
): Promise<string> {
  if (data !== undefined) return ensureStateFolder(resolve(around.cwd, data), '--data')
  if (!isShared) return serviceFolder(undefined, around)
  throw new UsageError(
    'ERR_DATA_NOT_NAMED',
    'Nodes with a shared store also need a shared folder, and none is named.',
    {
      remedies: ['Name it with --data, or keep the files in Azure Blob Storage (azureContainer).'],
    },
  )
}

/**
 * The folder of the service: `--data`, or the folder of the embedded service. `serve` and `portal` therefore share keys
 * and files with `run`. Creates the embedded one if it does not exist.
 *
 * @throws UsageError `ERR_DATA_MISSING`, `ERR_STATE_DIR`
 */
export async function serviceFolder(data: string | undefined, { cwd, env }: Surroundings): Promise<string> {
  if (data !== undefined) return existingFolder(resolve(cwd, data))
  const { stateDir } = await resolveConfig({ cwd, env })
  await ensureStateFolder(stateDir)
  return ensureStateFolder(join(stateDir, 'service'))
}

/** A mistyped folder must not become a second, empty service. */
function existingFolder(folder: string): Promise<string> {
  if (holdsService(folder)) return ensureStateFolder(folder, '--data')
  const why = existsSync(folder) ? 'holds no service' : 'does not exist, so it holds no service'
  throw new UsageError('ERR_DATA_MISSING', `The folder ${folder} ${why}.`, {
    remedies: [`Check --data. To make a new service there, run \`voxmux serve --data ${shellWord(folder)}\`.`],
  })
}
