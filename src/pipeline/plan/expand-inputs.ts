import { open, readdir, stat } from 'node:fs/promises'
import { extname, join, resolve } from 'node:path'
import { UsageError } from '../../core/errors.js'
import { readAt } from '../../core/read-at.js'
import { isText } from '../../core/visible-text.js'
import { isWebAddress } from '../web-address.js'
import { receiptPath } from './output-path.js'

/** Extensions that voxmux accepts in a folder. A named file is accepted whatever its extension. */
const MEDIA_EXTENSIONS: ReadonlySet<string> = new Set([
  ...['.mp4', '.m4v', '.mov', '.mkv', '.webm', '.mxf', '.ts', '.m2ts', '.mts', '.avi', '.flv', '.3gp', '.3g2', '.mpg'],
  ...['.mpeg', '.vob', '.wmv', '.asf', '.wav', '.wave', '.bwf', '.rf64', '.w64', '.aif', '.aiff', '.aifc', '.caf'],
  ...['.flac', '.mp3', '.m4a', '.m4b', '.aac', '.ogg', '.oga', '.ogv', '.opus', '.wma', '.ac3', '.eac3', '.mka'],
])

/** A transport stream has bytes among its first that no text has. */
const HEAD_BYTES = 512

/** True for a name with a media extension. */
export function isMediaName(name: string): boolean {
  return MEDIA_EXTENSIONS.has(extname(name).toLowerCase())
}

/**
 * Expands the arguments of a command: each file, each folder's media, and each address as it is. Subfolders, hidden
 * files, programs in TypeScript and outputs of voxmux are left out.
 *
 * @returns absolute paths and addresses, each once, in the given order
 * @throws {UsageError} `ERR_FOLDER_WITHOUT_MEDIA`. A missing path stays: its own job reports it.
 */
export async function expandInputs(inputs: readonly string[], cwd: string): Promise<readonly string[]> {
  const expanded = inputs.map((input) => (isWebAddress(input) ? [input] : filesAt(resolve(cwd, input), mediaIn)))
  return [...new Set((await Promise.all(expanded)).flat())]
}

/**
 * Expands the arguments of `voxmux verify`: each file, and each folder's files that have a receipt.
 *
 * @returns absolute paths, each once, in the given order
 * @throws {UsageError} `ERR_FOLDER_WITHOUT_MEDIA`
 */
export async function expandOutputs(outputs: readonly string[], cwd: string): Promise<readonly string[]> {
  const expanded = outputs.map((output) => filesAt(resolve(cwd, output), outputsIn))
  return [...new Set((await Promise.all(expanded)).flat())]
}

/** The path itself, or the files that a folder stands for. */
async function filesAt(path: string, filesIn: (folder: string) => Promise<string[]>): Promise<readonly string[]> {
  const found = await stat(path).catch(() => undefined)
  if (!found?.isDirectory()) return [path]
  return (await filesIn(path)).sort().map((name) => join(path, name))
}

async function outputsIn(folder: string): Promise<string[]> {
  const present = new Set(await readdir(folder))
  const outputs = [...present].filter((name) => present.has(receiptPath(name)))
  if (outputs.length === 0) throw nothingIn(folder, 'output with a receipt')
  return outputs
}

async function mediaIn(folder: string): Promise<string[]> {
  const entries = (await readdir(folder, { withFileTypes: true })).filter((entry) => !entry.isDirectory())
  const present = new Set(entries.map(({ name }) => name))
  const media: string[] = []
  for (const entry of entries) {
    const { name } = entry
    const isNamedSo = isMediaName(name) && !name.startsWith('.') && !present.has(receiptPath(name))
    if (isNamedSo && !(entry.isFile() && (await isTypeScript(join(folder, name))))) media.push(name)
  }
  if (media.length === 0) throw nothingIn(folder, 'media')
  return media
}

/** True for a program whose extension is also that of MPEG transport streams. */
async function isTypeScript(path: string): Promise<boolean> {
  if (!/\.m?ts$/i.test(path)) return false
  await using file = await open(path).catch(() => undefined)
  const head = file && (await readAt(file, 0, HEAD_BYTES))
  return head !== undefined && head.length > 0 && isText(head)
}

function nothingIn(folder: string, what: string): UsageError {
  return new UsageError('ERR_FOLDER_WITHOUT_MEDIA', `The folder ${folder} contains no ${what}.`, {
    input: folder,
    remedies: ['Name the files, or another folder. Subfolders are not searched.'],
  })
}
