import { thrownMessage, UsageError } from '../core/errors.js'
import { readNamedFile } from '../core/read-plain-file.js'
import { unreadableFile } from '../core/unreadable-file.js'

/** Reads a JSON file of a user. @throws {UsageError} `ERR_CONFIG_MISSING`, `ERR_CONFIG_SYNTAX` (with the line) */
export async function readJsonFile(path: string): Promise<unknown> {
  let text: string
  try {
    text = await readNamedFile(path)
  } catch (cause) {
    throw unreadableFile('ERR_CONFIG_MISSING', path, cause)
  }
  return parseJson(text, path)
}

/** Parses JSON that a user wrote. `source` is named in the message. */
export function parseJson(text: string, source: string): unknown {
  const json = text.replace(/^\uFEFF/, '')
  if (json.trim() === '') {
    throw new UsageError('ERR_CONFIG_SYNTAX', `${source} is not valid JSON: it is empty.`, {
      input: source,
      remedies: ['Write an object into it, at least {}, or remove it.'],
    })
  }
  try {
    return JSON.parse(json)
  } catch (cause) {
    throw new UsageError('ERR_CONFIG_SYNTAX', `${source} is not valid JSON (line ${faultyLine(json)}).`, {
      cause,
      input: source,
      remedies: ['Use double quotes, no comments, and no comma after the last entry.'],
    })
  }
}

/** Finds the first line that breaks the JSON. Engines report positions differently, and some not at all. */
function faultyLine(text: string): number {
  const lines = text.trimEnd().split('\n')
  let [sound, faulty] = [0, lines.length]
  while (faulty - sound > 1) {
    const middle = (sound + faulty) >> 1
    // No JSON token continues after the end of a line.
    if (isBeginning(`${lines.slice(0, middle).join('\n')}\n`)) sound = middle
    else faulty = middle
  }
  return faulty
}

function isBeginning(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch (error) {
    const message = thrownMessage(error)
    const position = /at position (\d+)/.exec(message)?.[1]
    return position === undefined ? /end of JSON input/.test(message) : Number(position) >= text.length
  }
}
