import { link, lstat, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { UsageError, VerificationError } from '../../core/errors.js'
import { syncFile, syncFolder } from '../../core/sync-folder.js'

/** How the output got its name. `link` cannot replace a file; `rename` serves file systems without hard links. */
type PublishMethod = 'link' | 'rename' | 'replace'

/** Error codes of file systems without hard links (FAT, many shares, some FUSE mounts). */
const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EXDEV', 'EINVAL'])

interface PublishOptions {
  /** True only with `--force`, or for an older output of voxmux. */
  readonly replace: boolean
  /**
   * Called last, when all bytes are on disk. Throws if another process has taken over the job. A process that froze
   * before this call gives no name. One that freezes after it uses a link, which replaces nothing.
   */
  readonly mayPublish?: () => Promise<unknown>
}

/**
 * Gives a verified part file its name, atomically.
 *
 * @throws {UsageError} `ERR_OUTPUT_EXISTS`: an existing name is never overwritten
 * @throws {VerificationError} `ERR_PART_REPLACED`
 */
export async function publish(
  part: string,
  output: string,
  { replace, mayPublish }: PublishOptions,
): Promise<PublishMethod> {
  await requireFile(part)
  await syncFile(part)
  await mayPublish?.()
  const method = replace ? await replaceWith(part, output) : await nameNew(part, output)
  await rm(part, { force: true })
  await syncFolder(dirname(output))
  return method
}

/** Does not follow a link in place of the part, because voxmux did not create it. */
async function requireFile(part: string): Promise<void> {
  if ((await lstat(part)).isFile()) return
  throw new VerificationError('ERR_PART_REPLACED', `Another program replaced ${part}, which is no longer a file.`, {
    input: part,
    remedies: ['Check who else may write to this folder, then run again: nothing is paid for twice.'],
  })
}

async function replaceWith(part: string, output: string): Promise<PublishMethod> {
  await rename(part, output)
  return 'replace'
}

function nameNew(part: string, output: string): Promise<PublishMethod> {
  return giveName(part, output).catch((cause: NodeJS.ErrnoException) => {
    throw cause.code === 'EEXIST' ? outputExists(output, { cause }) : cause
  })
}

/** Gives a file a name that no file has. With a link, it keeps its old name too. @throws the system's EEXIST and others */
export async function giveName(file: string, name: string): Promise<'link' | 'rename'> {
  try {
    await link(file, name)
    return 'link'
  } catch (cause) {
    if (!NO_LINKS.has(String((cause as NodeJS.ErrnoException).code))) throw cause
  }
  // Taking the name exclusively first makes the loser of a race fail with EEXIST instead of overwriting a file.
  await (await open(name, 'wx')).close()
  try {
    await rename(file, name)
    return 'rename'
  } catch (cause) {
    await rm(name, { force: true })
    throw cause
  }
}

/**
 * The error for an existing file at the output's path.
 *
 * @param made how voxmux made that file, such as `from this input`; undefined for a file of unknown origin
 */
export function outputExists(output: string, { made, cause }: { made?: string; cause?: unknown } = {}): UsageError {
  const origin = made === undefined ? ', and voxmux' : `. voxmux made it ${made}, and`
  return new UsageError('ERR_OUTPUT_EXISTS', `${output} already exists${origin} does not replace files unasked.`, {
    cause,
    input: output,
    remedies: ['Choose another name with --output, or replace the file with --force.'],
  })
}

/** The error for a device, a pipe or a folder at the output's path. */
export function outputNoFile(output: string): UsageError {
  return new UsageError('ERR_OUTPUT_EXISTS', `${output} is not a regular file, so voxmux does not replace it.`, {
    input: output,
    remedies: ['Choose another name with --output. --force replaces only files, and --dry-run writes nothing.'],
  })
}
