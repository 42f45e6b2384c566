import { readdir, stat } from 'node:fs/promises'
import { extname, join, resolve } from 'node:path'
import { UsageError } from '../../core/errors.js'
import { isWebAddress } from '../web-address.js'
import { receiptPath } from './output-path.js'

/** Extensions that voxmux accepts in a folder. A named file is accepted whatever its extension. */
const MEDIA_EXTENSIONS: ReadonlySet<string> = new Set([
  ...['.mp4', '.m4v', '.mov', '.mkv', '.webm', '.mxf', '.ts', '.m2ts', '.mts', '.avi', '.flv', '.3gp', '.3g2', '.mpg'],
  ...['.mpeg', '.vob', '.wmv', '.asf', '.wav', '.wave', '.bwf', '.rf64', '.w64', '.aif', '.aiff', '.aifc', '.caf'],
  ...['.flac', '.mp3', '.m4a', '.m4b', '.aac', '.ogg', '.oga', '.ogv', '.opus', '.wma', '.ac3', '.eac3', '.mka'],
])

/** True for a name with a media extension. */
export function isMediaName(name: string): boolean {
  return MEDIA_EXTENSIONS.has(extname(name).toLowerCase())
}

/**
 * Expands the arguments of a command: each file, each folder's media, and each address as it is. Subfolders, hidden
 * files and outputs of voxmux are left out.
 *
 * @returns absolute paths and addresses, each once, in the given order
 * @throws {UsageError} `ERR_FOLDER_WITHOUT_MEDIA`. A missing path stays: its own job reports it.
 */
export async function expandInputs(inputs: readonly string[], cwd: string): Promise<readonly string[]> {
  const expanded = await Promise.all(
    inputs.map(async (input) => {
      if (isWebAddress(input)) return [input]
      const path = resolve(cwd, input)
      const found = await stat(path).catch(() => undefined)
      return found?.isDirectory() ? mediaIn(path) : [path]
    }),
  )
  return [...new Set(expanded.flat())]
}

/**
 * Expands the arguments of `voxmux verify`: each file, and each folder's files that have a receipt.
 *
 * @returns absolute paths, each once, in the given order
 * @throws {UsageError} `ERR_FOLDER_WITHOUT_MEDIA`
 */
export async function expandOutputs(outputs: readonly string[], cwd: string): Promise<readonly string[]> {
  const expanded = await Promise.all(
    outputs.map(async (output) => {
      const path = resolve(cwd, output)
      const found = await stat(path).catch(() => undefined)
      return found?.isDirectory() ? outputsIn(path) : [path]
    }),
  )
  return [...new Set(expanded.flat())]
}

async function outputsIn(folder: string): Promise<readonly string[]> {
  const present = new Set(await readdir(folder))
  const outputs = [...present].filter((name) => present.has(receiptPath(name))).sort()
  if (outputs.length > 0) return outputs.map((name) => join(folder, name))
  throw new UsageError('ERR_FOLDER_WITHOUT_MEDIA', `The folder ${folder} contains no output with a receipt.`, {
    input: folder,
    remedies: ['Name the files, or another folder. Subfolders are not searched.'],
  })
}

async function mediaIn(folder: string): Promise<readonly string[]> {
  const names = (await readdir(folder, { withFileTypes: true })).filter((entry) => !entry.isDirectory())
  const present = new Set(names.map(({ name }) => name))
  const media = [...present]
    .filter(isMediaName)
    .filter((name) => !name.startsWith('.') && !present.has(receiptPath(name)))
    .sort()
  if (media.length > 0) return media.map((name) => join(folder, name))
  throw new UsageError('ERR_FOLDER_WITHOUT_MEDIA', `The folder ${folder} contains no media.`, {
    input: folder,
    remedies: ['Name the files, or another folder. Subfolders are not searched.'],
  })
}
