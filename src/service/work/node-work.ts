import { availableParallelism } from 'node:os'
import PQueue from 'p-queue'
import type { ErrorCode, VoxmuxError } from '../../core/errors.js'
import type { NodeStore } from '../store/open-node-store.js'
import { fileQueue } from './file-queue.js'
import { type FileRunContext, runFile } from './run-file.js'

/** Faults of this machine's disk. Files wait until a person repairs it. */
const DISK_FAULTS: ReadonlySet<string> = new Set<ErrorCode>(['ERR_DISK_FULL', 'ERR_DATABASE_IO'])

interface NodeWorkOptions extends Omit<FileRunContext, 'files' | 'accounts' | 'suspects' | 'onFault'> {
  readonly askedOnly: boolean
}

/**
 * Opens the queue of accepted files. It claims none before its start.
 *
 * @returns the queue, and what calls a listener when this node cannot go on because its disk is full or fails
 */
export async function openNodeWork(nodeStore: NodeStore, { askedOnly, ...options }: NodeWorkOptions) {
  const { files, accounts } = nodeStore.workStore
  const { settings, logger } = options
  const { concurrency = availableParallelism(), pollMs, leaseMs } = settings.work
  const listeners = new Set<(error: VoxmuxError) => void>()
  const onFault = (error: VoxmuxError) => {
    if (DISK_FAULTS.has(error.code)) for (const listener of listeners) listener(error)
  }
  const context = { ...options, files, accounts, suspects: new PQueue({ concurrency: 1 }), onFault }
  const queue = fileQueue({
    store: await nodeStore.jobs(),
    files: nodeStore.store.files,
    askedOnly,
    ...{ concurrency, pollMs, leaseMs, onFault, logger },
    run: (held) => runFile(held, context),
  })
  return { queue, onDiskFault: (listener: (error: VoxmuxError) => void) => void listeners.add(listener) }
}
