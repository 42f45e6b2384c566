import { readlink, realpath, stat } from 'node:fs/promises'
import { type PrecheckError, UsageError } from '../../core/errors.js'
import { shellName, undecodableName } from '../../core/undecodable-name.js'
import { unreadable } from '../ffmpeg/ffmpeg-failure.js'

/** `ERR_INVALID_ARG_VALUE`: Node.js refuses a name with a zero byte, which no file can have. */
const NO_SUCH_FILE: ReadonlySet<string | undefined> = new Set([
  ...['ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG', 'ERR_INVALID_ARG_VALUE'],
])

/**
 * Requires a regular file.
 *
 * @returns its length in bytes
 * @throws {UsageError} ERR_INPUT_MISSING, ERR_INPUT_IS_FOLDER, ERR_NAME_NOT_UTF8
 * @throws {PrecheckError} ERR_UNREADABLE for a pipe or a device
 */
export async function sizeOfFile(path: string): Promise<number> {
  try {
    const stats = await stat(await realpath(path))
    if (stats.isFile()) return stats.size
    if (stats.isFIFO()) throw notAFile(path, PIPE_IT)
    if (!stats.isDirectory()) throw notAFile(path, ['Name a media file.'])
    throw new UsageError('ERR_INPUT_IS_FOLDER', `${path} is a folder.`, {
      input: path,
      remedies: ['Name the files in it, or watch the folder with `voxmux watch`.'],
    })
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (!NO_SUCH_FILE.has(code)) throw cause
    const undecodable = await undecodableName(path)
    if (undecodable) throw notUtf8(path, undecodable)
    throw (await brokenLink(path, cause)) ?? missing(path, cause)
  }
}

/** An address that was resolved as a path, which leaves one slash. */
const OTHER_ADDRESS = /\/(?:file|ftps?|gs|rtmp|rtsp|s3|sftp|smb):\//i

function missing(path: string, cause: unknown): UsageError {
  return new UsageError('ERR_INPUT_MISSING', `${path} does not exist.`, {
    input: path,
    cause,
    remedies: [whyMissing(path)],
  })
}

function whyMissing(path: string): string {
  if (OTHER_ADDRESS.test(path)) return 'Name a path or an https address. voxmux opens no other kind of address.'
  if (path.includes('/~/')) return 'The shell replaces ~ only at the start of an unquoted path. Write the path in full.'
  if (/[*?]/.test(path))
    return 'No file matches this pattern, so the shell left it as it is. Check the folder and the ending.'
  return 'Check the spelling of the path. Relative paths start at the working folder.'
}

const PIPE_IT = ['Pipe it in: `… | voxmux run - -o FILE`.']

function notAFile(path: string, remedies: readonly string[]): PrecheckError {
  return unreadable(`${path} is not a regular file`, { input: path, remedies })
}

/** The fault of a link without a file behind it. Its name is there, so `does not exist` would puzzle. */
async function brokenLink(path: string, cause: unknown): Promise<UsageError | PrecheckError | undefined> {
  const target = await readlink(path).catch(() => undefined)
  if (target === undefined) return undefined
  if (/^(pipe|socket):\[/.test(target)) return notAFile(path, PIPE_IT)
  const isLoop = (cause as NodeJS.ErrnoException).code === 'ELOOP'
  const why = isLoop ? 'a link that leads back to itself' : `a link to ${target}, which does not exist`
  return new UsageError('ERR_INPUT_MISSING', `${path} is ${why}.`, {
    input: path,
    cause,
    remedies: ['Correct the link, or name the file itself. A target on a share is missing until the share is mounted.'],
  })
}

function notUtf8(path: string, { folder, name }: { readonly folder: string; readonly name: Buffer }): UsageError {
  const [old, plain] = [shellName(name), name.toString().replaceAll('\ufffd', '_')]
  return new UsageError(
    'ERR_NAME_NOT_UTF8',
    `voxmux cannot open ${path}, because the name has bytes that are not UTF-8.`,
    {
      input: path,
      remedies: [`Rename it, for example in ${folder} with: mv -- ${old} ${shellName(Buffer.from(plain))}`],
    },
  )
}
