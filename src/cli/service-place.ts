import { resolve } from 'node:path'
import { ensureStateFolder, refuseShownPassword } from '../config/index.js'
import { UsageError } from '../core/errors.js'
import { serviceFolder } from './service-folder.js'

/** What `serve` and `portal` are told of where the service is. */
export interface ServicePlaceFlags {
  readonly data?: string | undefined
  readonly store?: string | undefined
}

interface Surroundings {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
}

/**
 * The shared store of the service: `--store`, else `VOXMUX_STORE`; undefined where it lies in the service's folder.
 *
 * @throws UsageError `ERR_STORE_PASSWORD_SHOWN`
 */
export function sharedStore({ store }: ServicePlaceFlags, env: NodeJS.ProcessEnv): string | undefined {
  if (store !== undefined) refuseShownPassword(store)
  return store ?? (env.VOXMUX_STORE || undefined)
}

/**
 * The folder of a node. Nodes of a shared store share the folder of the files too, so that it has to be named; with a
 * blob store it is this machine's own.
 *
 * @throws UsageError `ERR_DATA_NOT_NAMED`, `ERR_STATE_DIR`
 */
export async function nodeFolder(
  { data }: ServicePlaceFlags,
  { isShared, around }: { readonly isShared: boolean; readonly around: Surroundings },
): Promise<string> {
  if (data !== undefined) return ensureStateFolder(resolve(around.cwd, data))
  if (!isShared) return serviceFolder(undefined, around)
  throw new UsageError('ERR_DATA_NOT_NAMED', 'The nodes of a shared store need the folder that they share.', {
    remedies: ['Name it with --data, or keep the files in Azure Blob Storage (azureContainer).'],
  })
}
