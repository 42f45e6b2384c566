import { readFile } from 'node:fs/promises'
import { UsageError } from '../core/errors.js'
import { thrownMessage } from '../core/thrown-message.js'

/**
 * Reads a JSON file that a person wrote.
 *
 * @throws UsageError `ERR_CONFIG_MISSING` (no such file, or not readable) or `ERR_CONFIG_SYNTAX` (where in the file)
 */
export async function readJsonFile(path: string): Promise<unknown> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (cause) {
    throw new UsageError('ERR_CONFIG_MISSING', `${path} cannot be read: ${reason(cause)}.`, { cause, input: path })
  }
  return parseJson(text, path)
}

/** Parses what a person wrote; `source` is named in the message. */
export function parseJson(text: string, source: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch (cause) {
    const message = thrownMessage(cause)
    const offset = /at position (\d+)/.exec(message)?.[1]
    const line = offset === undefined ? '' : ` (line ${text.slice(0, Number(offset)).split('\n').length})`
    throw new UsageError('ERR_CONFIG_SYNTAX', `${source} is not valid JSON${line}.`, {
      cause,
      input: source,
      remedies: ['JSON takes double quotes, no comments and no comma after the last entry.'],
    })
  }
}

function reason(cause: unknown): string {
  switch ((cause as NodeJS.ErrnoException).code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return 'there is no such file'
    case 'EISDIR':
      return 'it is a folder'
    case 'EACCES':
    case 'EPERM':
      return 'no permission'
    default:
      return thrownMessage(cause)
  }
}
