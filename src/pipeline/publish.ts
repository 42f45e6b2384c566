import { link, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { UsageError } from '../core/errors.js'
import { syncFolder } from '../core/sync-folder.js'

/** How the output got its name: `link` cannot replace anything; `rename` is used where a file system has no links. */
export type PublishMethod = 'link' | 'rename' | 'replace'

/** Answers of file systems that have no hard links (FAT, many shares, some FUSE mounts). */
const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EXDEV', 'EINVAL'])

export interface PublishOptions {
  /** True only when the person said `--force`, or for an output of ours that gives way. */
  readonly replace: boolean
  /**
   * Asked at the last moment, when all bytes are on the disk: throws where the job is another's by now. A process that
   * was frozen before this gives no name any more; one that is frozen after it meets a link that replaces nothing.
   */
  readonly mayPublish?: () => Promise<unknown>
}

/**
 * Gives a verified part file its name, whole or not at all.
 *
 * @throws {UsageError} `ERR_OUTPUT_EXISTS`: a name that exists is never overwritten
 */
export async function publish(
  part: string,
  output: string,
  { replace, mayPublish }: PublishOptions,
): Promise<PublishMethod> {
  await syncToDisk(part)
  await mayPublish?.()
  const method = replace ? await replaceWith(part, output) : await linkOrCreate(part, output)
  await rm(part, { force: true })
  await syncFolder(dirname(output))
  return method
}

async function replaceWith(part: string, output: string): Promise<PublishMethod> {
  await rename(part, output)
  return 'replace'
}

async function linkOrCreate(part: string, output: string): Promise<PublishMethod> {
  try {
    await link(part, output)
    return 'link'
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (code === 'EEXIST') throw outputExists(output, cause)
    if (code === undefined || !NO_LINKS.has(code)) throw cause
  }
  // Taking the name exclusively first leaves the loser of a race with EEXIST instead of an overwritten file.
  try {
    await (await open(output, 'wx')).close()
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST') throw outputExists(output, cause)
    throw cause
  }
  try {
    await rename(part, output)
  } catch (cause) {
    await rm(output, { force: true })
    throw cause
  }
  return 'rename'
}

async function syncToDisk(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** A file that is not ours stands where the output should go. */
export function outputExists(output: string, cause?: unknown): UsageError {
  return new UsageError('ERR_OUTPUT_EXISTS', `${output} exists already and is not replaced.`, {
    cause,
    input: output,
    remedies: ['Choose another name with --output, or replace it with --force.'],
  })
}

/** What stands where the output should go is no file: a device, a pipe, a folder. */
export function outputNoFile(output: string): UsageError {
  return new UsageError('ERR_OUTPUT_EXISTS', `${output} is no regular file and is not replaced.`, {
    input: output,
    remedies: ['Choose another name with --output: --force replaces files alone. --dry-run writes none.'],
  })
}
