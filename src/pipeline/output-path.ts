import { createHash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { basename, dirname, extname, join, resolve, sep } from 'node:path'
import { UsageError } from '../core/errors.js'
import { isSameFile } from './is-same-file.js'

/** What follows an output's name in that of its receipt. */
const RECEIPT_SUFFIX = '.voxmux.json'
/** The longest name most file systems take, in bytes. */
const NAME_MAX_BYTES = 255

export interface OutputWish {
  /** Absolute path of the input. */
  readonly input: string
  /** `-o` as typed: a file, an existing folder, or a path ending in a separator (a folder to be made). */
  readonly output: string | undefined
  /** Name where it is ours to choose, without extension; undefined: the input's and the label. */
  readonly stem?: string | undefined
  /** Extension of the target container, with the dot. */
  readonly extension: string
  /** What stands between name and extension where the name is ours to choose. */
  readonly label: 'regen' | 'preview'
  /** Folder against which `output` is relative. */
  readonly cwd: string
}

/**
 * Where the finished file goes: `<name>.regen<ext>` beside the input unless the person says otherwise.
 *
 * @returns absolute path
 * @throws {UsageError} `ERR_OUTPUT_IS_INPUT`
 */
export async function outputPath(wish: OutputWish): Promise<string> {
  const ownName =
    wish.stem === undefined
      ? fittingName(basename(wish.input, extname(wish.input)), `.${wish.label}${wish.extension}`)
      : fittingName(wish.stem, wish.extension)
  const path = await place(wish, ownName)
  // Also by another name, which --force would replace as any other: the input is only ever read.
  if (path === wish.input || (await isSameFile(path, wish.input))) {
    throw new UsageError('ERR_OUTPUT_IS_INPUT', `The output would replace the input ${wish.input}.`, {
      input: wish.input,
      remedies: ['Name another file with --output: the input is only ever read.'],
    })
  }
  return path
}

/** Path of the receipt that stands beside an output. */
export function receiptPath(output: string): string {
  return `${output}${RECEIPT_SUFFIX}`
}

/**
 * A name that leaves room for the receipt's, whatever the length of the stem: a cut stem ends in a hash of the whole,
 * so that two long names that begin alike stay apart.
 */
export function fittingName(stem: string, suffix: string): string {
  const room = NAME_MAX_BYTES - Buffer.byteLength(suffix + RECEIPT_SUFFIX)
  if (Buffer.byteLength(stem) <= room) return stem + suffix
  const tail = `~${createHash('sha256').update(stem).digest('hex').slice(0, 8)}`
  let kept = ''
  for (const character of stem) {
    if (Buffer.byteLength(kept + character + tail) > room) break
    kept += character
  }
  return kept + tail + suffix
}

/**
 * Whether an output as typed names a folder: one that ends in a separator and is yet to be made, or one that is there.
 * Such a name says nothing of the format of what is laid in it: `2026.11.22/` is no file of the format `22`.
 *
 * @param cwd folder against which it is relative
 */
export async function namesFolder(output: string, cwd: string): Promise<boolean> {
  if (/[/\\]$/.test(output)) return true
  return stat(resolve(cwd, output)).then(
    (found) => found.isDirectory(),
    () => false,
  )
}

async function place(wish: OutputWish, ownName: string): Promise<string> {
  if (wish.output === undefined) return join(dirname(wish.input), ownName)
  const wanted = resolve(wish.cwd, wish.output)
  const isFolder = await namesFolder(wish.output, wish.cwd)
  return isFolder ? join(wanted.endsWith(sep) ? wanted.slice(0, -1) || sep : wanted, ownName) : wanted
}
