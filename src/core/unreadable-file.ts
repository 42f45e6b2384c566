import { thrownMessage, UsageError } from './errors.js'

/**
 * The error for a named file that cannot be read.
 *
 * @param code of its table
 * @param cause thrown by `node:fs`
 * @param remedies more to do besides a look at the path
 */
export function unreadableFile(
  code: `ERR_${string}`,
  path: string,
  cause: unknown,
  remedies: readonly string[] = [],
): UsageError {
  return new UsageError(code, faultOf(path, cause), {
    cause,
    input: path,
    remedies: ['Check the spelling of the path and the permissions of the file.', ...remedies],
  })
}

function faultOf(path: string, cause: unknown): string {
  switch ((cause as NodeJS.ErrnoException).code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return `${path} does not exist.`
    case 'EISDIR':
      return `${path} cannot be read, because it is a folder.`
    case 'EACCES':
    case 'EPERM':
      return `${path} cannot be read: permission denied.`
    default:
      return `${path} cannot be read: ${thrownMessage(cause)}.`
  }
}
