import { lstat, stat } from 'node:fs/promises'
import { basename, dirname, extname, join, resolve, sep } from 'node:path'
import { UsageError } from '../../core/errors.js'
import { isSameFile } from '../../core/file-identity.js'
import { fitName, NAME_MAX_BYTES } from '../../core/fit-name.js'
import { nearestExisting } from '../../core/make-folder.js'
import { REPLACEMENT } from '../../core/undecodable-name.js'

/** Suffix of the receipt's name after the output's. */
const RECEIPT_SUFFIX = '.voxmux.json'

interface OutputPathOptions {
  /** Absolute path of the input. */
  readonly input: string
  /** `-o` as typed: a file, an existing folder, or a path with a trailing separator (a folder to create). */
  readonly output: string | undefined
  /** Name chosen by voxmux, without extension. Undefined for the input's name and the label. */
  readonly stem?: string | undefined
  /** Extension of the target container, with the dot. */
  readonly extension: string
  /** Label between name and extension, if voxmux chooses the name. */
  readonly label: 'regen' | 'preview'
  /** Base folder of a relative `output`. */
  readonly cwd: string
}

/**
 * Absolute path of the output, `<name>.regen<ext>` by default.
 *
 * @throws {UsageError} `ERR_OUTPUT_IS_INPUT`, `ERR_NAME_NOT_UTF8`, `ERR_OUTPUT_NAME`
 */
export async function outputPath(wish: OutputPathOptions): Promise<string> {
  requireName(wish)
  await requireDecoded(wish)
  const path = await uncheckedOutputPath(wish)
  await requireRoomBeside(path, wish.input)
  // Compares by identity too. --force would replace the input under another name, and the input must only be read.
  if (path === wish.input || (await isSameFile(path, wish.input))) throw replacesInput(wish.input)
  return path
}

/** The error for a job whose output is its own input. */
export function replacesInput(input: string): UsageError {
  return new UsageError(
    'ERR_OUTPUT_IS_INPUT',
    `The output would replace the input ${input}, which voxmux only reads.`,
    {
      input,
      remedies: ['Name another file with --output.'],
    },
  )
}

/** Refuses a name that no file can have. Only JSON and programs can write one: arguments end at such a byte. */
function requireName({ input, output }: OutputPathOptions): void {
  if (!output?.includes('\0')) return
  throw noName(input, `The name of the output contains a zero byte: ${JSON.stringify(output)}.`)
}

/** Refuses a name whose bytes Node.js could not decode: the output would get another name. */
async function requireDecoded({ input, output, cwd }: OutputPathOptions): Promise<void> {
  if (!output?.includes(REPLACEMENT)) return
  if (await stat(resolve(cwd, output)).catch(() => undefined)) return
  throw new UsageError('ERR_NAME_NOT_UTF8', `The output ${output} has bytes in its name that are not UTF-8.`, {
    input,
    remedies: ['Name the output in UTF-8, and rename it afterwards if another program needs the old name.'],
  })
}

/**
 * Refuses a name whose files beside it could not be written. Only the file system knows how long a name may be, in bytes
 * or characters.
 */
async function requireRoomBeside(output: string, input: string): Promise<void> {
  const folder = await nearestExisting(dirname(output))
  for (const path of [receiptPath(output), reportPath(output), sidecarPath(output)]) {
    // A folder that is still to be made has no limit yet, but the one in which it will be made has.
    const [there, near] = [await found(path), await found(join(folder, basename(path)))]
    if (there === 'ENAMETOOLONG' || near === 'ENAMETOOLONG') {
      throw noName(input, `The name of the output is too long: beside ${output}, voxmux writes ${basename(path)}.`)
    }
    if (there === 'folder') throw noName(input, `Beside the output, voxmux writes ${path}, but that is a folder.`)
  }
}

/** Kind of what a path names, or the code of the fault. */
async function found(path: string): Promise<string | undefined> {
  return lstat(path).then(
    (stats) => (stats.isDirectory() ? 'folder' : 'file'),
    ({ code }: NodeJS.ErrnoException) => code,
  )
}

function noName(input: string, what: string): UsageError {
  return new UsageError('ERR_OUTPUT_NAME', what, { input, remedies: ['Choose another name with --output.'] })
}

/** Path of the receipt beside an output. */
export function receiptPath(output: string): string {
  return `${output}${RECEIPT_SUFFIX}`
}

/** Path of the output that a receipt is about; undefined if the name is not that of a receipt. */
export function outputOfReceipt(path: string): string | undefined {
  return path.endsWith(RECEIPT_SUFFIX) ? path.slice(0, -RECEIPT_SUFFIX.length) : undefined
}

/** Path of the report beside an output. */
export function reportPath(output: string): string {
  return `${output}.voxmux.html`
}

/** Path of the Content Credentials beside an output that cannot hold them. */
export function sidecarPath(output: string): string {
  return `${output}.c2pa`
}

/** A name short enough that the receipt's longer name still fits. */
export function fittingName(stem: string, suffix: string): string {
  return fitName(stem, suffix, NAME_MAX_BYTES - Buffer.byteLength(RECEIPT_SUFFIX))
}

/**
 * True if an output as typed names a folder: an existing one, or one to create, with a trailing separator. A folder's
 * name does not decide a format: `2026.11.22/` is not of format `22`.
 *
 * @param cwd base folder of a relative path
 */
export async function namesFolder(output: string, cwd: string): Promise<boolean> {
  if (/[/\\]$/.test(output)) return true
  const found = await stat(resolve(cwd, output)).catch(() => undefined)
  return found?.isDirectory() === true
}

/** The path of {@link outputPath}, even if the input is there. */
export async function uncheckedOutputPath(wish: OutputPathOptions): Promise<string> {
  const ownName =
    wish.stem === undefined
      ? fittingName(basename(wish.input, extname(wish.input)), `.${wish.label}${wish.extension}`)
      : fittingName(wish.stem, wish.extension)
  if (wish.output === undefined) return join(dirname(wish.input), ownName)
  const wanted = resolve(wish.cwd, wish.output)
  return (await namesFolder(wish.output, wish.cwd))
    ? join(wanted.endsWith(sep) ? wanted.slice(0, -1) || sep : wanted, ownName)
    : wanted
}
