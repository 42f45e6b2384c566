import { realpath, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { TransientError } from '../../core/errors.js'
import type { PipelineContext } from '../context.js'
import { requireFreeSpace } from '../output/free-space.js'
import { partPath } from '../output/part-file.js'
import { clearStale, keepForInspection, makeWorkFolder } from '../output/work-folder.js'
import type { JobPlan } from '../plan/plan-job.js'

/** The files that one attempt at a job works on. */
export interface Workbench {
  /** Hidden files beside the output, in which it is built with its receipt, its report and its sidecar. */
  readonly part: string
  readonly receiptPart: string
  readonly reportPart: string
  readonly sidecarPart: string
  /** Folder for cuts and regenerated audio, private to the user. */
  readonly workFolder: string
  /** Clears what killed processes left, and makes the work folder. @throws {TransientError} `ERR_DISK_FULL` */
  prepare(): Promise<void>
  /** @throws {TransientError} `ERR_STORAGE_AWAY` if the output's folder is another one now */
  requireSamePlace(): Promise<void>
  /** Moves the work folder to where a person can look at it. */
  keepForInspection(): Promise<void>
  /** Removes everything that was not published. */
  close(): Promise<void>
}

/** Opens the workbench of a job. Notes the output's folder first: a hook that looks at the folder looks at this one. */
export async function openWorkbench(
  { output, outputBytes, workBytes }: Pick<JobPlan, 'output' | 'outputBytes' | 'workBytes'>,
  jobId: string,
  context: PipelineContext,
): Promise<Workbench> {
  const { stateDir } = context
  const folder = await folderIdentity(dirname(output))
  const part = partPath(output, jobId)
  const receiptPart = partPath(output, jobId, '.json')
  const reportPart = partPath(output, jobId, '.html')
  const sidecarPart = partPath(output, jobId, '.c2pa')
  let workFolder: string | undefined
  return {
    ...{ part, receiptPart, reportPart, sidecarPart },
    get workFolder() {
      if (workFolder === undefined) throw new Error('the workbench is used before it is prepared')
      return workFolder
    },
    async prepare() {
      await clearStale(output, jobId, context)
      workFolder = makeWorkFolder(stateDir, jobId)
      await requireFreeSpace(
        new Map([
          [dirname(output), outputBytes],
          [workFolder, workBytes],
        ]),
      )
    },
    requireSamePlace: () => requireSame(dirname(output), folder),
    async keepForInspection() {
      if (workFolder) await keepForInspection(stateDir, jobId, workFolder)
    },
    async close() {
      for (const path of [part, receiptPart, reportPart, sidecarPart]) await rm(path, { force: true })
      if (workFolder) await rm(workFolder, { recursive: true, force: true })
    },
  }
}

/** Tells a folder from another under its name: another mount has another device, and a symlink another path. */
interface FolderIdentity {
  readonly device: number
  readonly path: string
}

async function folderIdentity(folder: string): Promise<FolderIdentity> {
  try {
    const path = await realpath(folder)
    return { path, device: (await stat(path)).dev }
  } catch (cause) {
    throw (cause as NodeJS.ErrnoException).code === 'ENOENT' ? folderGone(folder, cause) : cause
  }
}

/**
 * Requires that a folder is still where it was when its job began. A job can wait for hours at the service. If the
 * output's share is unmounted meanwhile, its mount point is an ordinary folder. A file published there would be hidden
 * as soon as the share returns. If the folder has become a symlink, the file would land where nobody wanted it.
 *
 * @throws {TransientError} `ERR_STORAGE_AWAY`
 */
async function requireSame(folder: string, before: FolderIdentity): Promise<void> {
  const { device, path } = await folderIdentity(folder)
  if (device === before.device && path === before.path) return
  const what = device === before.device ? `leads to ${path}, and led to ${before.path}` : 'is on a different disk than'
  throw new TransientError('ERR_STORAGE_AWAY', `${folder} ${what} when the job began.`, {
    input: folder,
    remedies: ['Mount the share again, or put the folder back, then run again. You do not pay twice.'],
  })
}

function folderGone(folder: string, cause: unknown): TransientError {
  return new TransientError('ERR_STORAGE_AWAY', `The output folder ${folder} no longer exists.`, {
    cause,
    input: folder,
    remedies: ['Create it again or mount its share, then run again. You do not pay twice.'],
  })
}
