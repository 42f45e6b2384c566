import { lstat, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { UsageError } from '../../core/errors.js'
import { readPlainFile } from '../../core/read-plain-file.js'
import { ASSERTION } from '../../credentials/manifest.js'
import type { JobSettings } from '../plan/job-settings.js'
import { receiptPath, reportPath, sidecarPath } from '../plan/output-path.js'

/** Begins the second line of every report. */
export const REPORT_MARK = '<p class="quiet">From <code>'

/** The files, besides the receipt, that a job writes beside its output. */
interface FilesBeside {
  readonly report: boolean
  readonly sidecar: boolean
}

/** The files that a job may write. A container that holds its credentials has no sidecar, but that is known late. */
export function filesBeside({ report, recipe, signed = false }: JobSettings): FilesBeside {
  return { report: report || recipe.qc !== null, sidecar: signed }
}

/**
 * Requires that no file of another program has a name that voxmux needs beside an output. A file that an earlier output
 * left is replaced.
 *
 * @throws {UsageError} `ERR_OUTPUT_EXISTS`
 */
export async function requireFreeNames(output: string, { report, sidecar }: FilesBeside): Promise<void> {
  await requireOwn(receiptPath(output), isReceipt)
  if (report) await requireOwn(reportPath(output), (bytes) => bytes.includes(REPORT_MARK))
  if (sidecar) await requireOwn(sidecarPath(output), (bytes) => bytes.includes(ASSERTION))
}

async function requireOwn(path: string, isOwn: (bytes: Buffer) => boolean): Promise<void> {
  if (!(await lstat(path).catch(() => undefined))) return
  const isKnown = await readPlainFile(path).then(isOwn, () => false)
  if (isKnown) return
  throw new UsageError('ERR_OUTPUT_EXISTS', `${path}, which voxmux writes beside its output, holds something else.`, {
    input: path,
    remedies: ['Move that file away, choose another name with --output, or replace both with --force.'],
  })
}

/** Mode of a folder in which only its owner and that of a file may replace the file, such as /tmp. */
const STICKY = 0o1000

/**
 * Requires that this user may replace an output and the files beside it. A folder may take new files and still keep those
 * of other users.
 *
 * @throws {UsageError} `ERR_OUTPUT_UNWRITABLE`
 */
export async function requireReplaceableOutput(output: string, { report, sidecar }: FilesBeside): Promise<void> {
  const user = process.geteuid?.() ?? 0
  const folder = await stat(dirname(output)).catch(() => undefined)
  if (user === 0 || !folder || (folder.mode & STICKY) === 0 || folder.uid === user) return
  const paths = [output, receiptPath(output)]
  if (report) paths.push(reportPath(output))
  if (sidecar) paths.push(sidecarPath(output))
  for (const path of paths) {
    const found = await lstat(path).catch(() => undefined)
    if (!found || found.uid === user) continue
    const rule = 'only that user may replace it in this folder, which has the sticky bit'
    throw new UsageError('ERR_OUTPUT_UNWRITABLE', `${path} belongs to another user, and ${rule}.`, {
      input: path,
      remedies: ['Choose another name with --output, or have its owner remove the file.'],
    })
  }
}

/** True for the receipt of a file or timeline, by any version of voxmux. */
function isReceipt(bytes: Buffer): boolean {
  try {
    const { schemaVersion, voxmux } = JSON.parse(bytes.toString()) as Readonly<Record<string, unknown>>
    return typeof schemaVersion === 'number' && typeof voxmux === 'string'
  } catch {
    return false
  }
}
