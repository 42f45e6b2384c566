import { basename, dirname, posix, relative, sep } from 'node:path'
import type { PackedFile } from './rewrite-zip.js'

/** A timeline that holds its media itself: an OTIOD folder or an OTIOZ archive. */
export interface Bundle {
  /** Real path of the folder that its media are read in: the bundle, or the one in which an archive is unpacked. */
  readonly folder: string
  /** Names of all that it holds, with `/` between folders. */
  readonly names: ReadonlySet<string>
  /** @throws {JobFailedError} `ERR_INPUT_CHANGED` if it was written to or replaced since it was opened */
  readonly requireSame: () => Promise<void>
  /** Removes what was unpacked. The regenerated files stay. */
  readonly release: () => Promise<void>
}

/** True for one of the bundle's own files. */
export function isInBundle(bundle: Bundle | null, path: string): bundle is Bundle {
  return bundle !== null && path.startsWith(bundle.folder + sep)
}

/** The regenerated file of a bundle's own file, beside it. It gets a number if the bundle holds its name already. */
export function packedFile({ folder, names }: Bundle, original: string, made: string): PackedFile {
  const below = relative(folder, dirname(original)).split(sep).join('/')
  const { name: stem, ext } = posix.parse(basename(made))
  let name = posix.join(below, basename(made))
  for (let number = 2; names.has(name); number++) name = posix.join(below, `${stem}-${number}${ext}`)
  return { name, path: made }
}
