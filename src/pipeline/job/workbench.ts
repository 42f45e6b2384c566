import { rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { TransientError } from '../../core/errors.js'
import type { PipelineContext } from '../context.js'
import { requireFreeSpace } from '../output/free-space.js'
import { partPath, receiptPartPath, reportPartPath } from '../output/part-file.js'
import { clearStale, keepForInspection, makeWorkFolder } from '../output/work-folder.js'

/** The files that one attempt at a job works on. */
export interface Workbench {
  /** Hidden files beside the output, in which it is built with its receipt and its report. */
  readonly part: string
  readonly receiptPart: string
  readonly reportPart: string
  /** Folder for cuts and regenerated audio, private to the user. */
  readonly workFolder: string
  /** Clears what killed processes left, and makes the work folder. @throws {TransientError} `ERR_DISK_FULL` */
  prepare(): Promise<void>
  /** @throws {TransientError} `ERR_STORAGE_AWAY` if another disk is now mounted at the output's folder */
  requireSameDisk(): Promise<void>
  /** Moves the work folder to where a person can look at it. */
  keepForInspection(): Promise<void>
  /** Removes everything that was not published. */
  close(): Promise<void>
}

interface Wanted {
  readonly output: string
  readonly outputBytes: number
  readonly workBytes: number
}

/** Opens the workbench of a job. Notes the output's disk first: a hook that finds the folder has found this disk. */
export async function openWorkbench(
  { output, outputBytes, workBytes }: Wanted,
  jobId: string,
  context: PipelineContext,
): Promise<Workbench> {
  const { stateDir } = context
  const disk = await diskOf(dirname(output))
  const part = partPath(output, jobId)
  const receiptPart = receiptPartPath(output, jobId)
  const reportPart = reportPartPath(output, jobId)
  let workFolder: string | undefined
  return {
    ...{ part, receiptPart, reportPart },
    get workFolder() {
      if (workFolder === undefined) throw new Error('the workbench is used before it is prepared')
      return workFolder
    },
    async prepare() {
      await clearStale(output, jobId, context)
      workFolder = await makeWorkFolder(stateDir, jobId)
      await requireFreeSpace(
        new Map([
          [dirname(output), outputBytes],
          [workFolder, workBytes],
        ]),
      )
    },
    requireSameDisk: () => requireOnDisk(dirname(output), disk),
    async keepForInspection() {
      if (workFolder) await keepForInspection(stateDir, jobId, workFolder)
    },
    async close() {
      for (const path of [part, receiptPart, reportPart]) await rm(path, { force: true })
      if (workFolder) await rm(workFolder, { recursive: true, force: true })
    },
  }
}

/** Device number of the disk or share that a folder is on. Another mount in its place has another number. */
async function diskOf(folder: string): Promise<number> {
  const found = await stat(folder).catch((cause: NodeJS.ErrnoException) => {
    throw cause.code === 'ENOENT' ? folderGone(folder, cause) : cause
  })
  return found.dev
}

/**
 * Requires that a folder is still on the disk on which its job began. A job can wait for hours at the service. If the
 * output's share is unmounted meanwhile, its mount point is an ordinary folder. A file published there would be hidden
 * as soon as the share returns.
 *
 * @throws {TransientError} `ERR_STORAGE_AWAY`
 */
async function requireOnDisk(folder: string, disk: number): Promise<void> {
  if ((await diskOf(folder)) === disk) return
  throw new TransientError('ERR_STORAGE_AWAY', `${folder} is on a different disk than when the job began.`, {
    input: folder,
    remedies: ['Mount the share again, then run again. You do not pay twice.'],
  })
}

function folderGone(folder: string, cause: unknown): TransientError {
  return new TransientError('ERR_STORAGE_AWAY', `The output folder ${folder} no longer exists.`, {
    cause,
    input: folder,
    remedies: ['Create it again or mount its share, then run again. You do not pay twice.'],
  })
}
