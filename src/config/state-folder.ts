import { constants } from 'node:fs'
import { access, chmod, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { UsageError } from '../core/errors.js'
import { makeDurableFolder } from '../core/make-folder.js'

/** For daemons without a home; whoever installs the daemon makes it and gives it to the daemon's user. */
const SYSTEM_STATE_FOLDER = '/var/lib/voxmux'

/** Where the state folder is when nobody says, and why there. */
export interface DefaultStateFolder {
  readonly path: string
  /** A sentence for the person where it is not the usual folder; null where it is. */
  readonly note: string | null
}

/**
 * The state folder where none is configured: the user's data folder, else the system's. Never a shared temporary
 * folder: others could plant a ledger there.
 */
export async function defaultStateFolder(dataFolder: string | null): Promise<DefaultStateFolder> {
  if (dataFolder !== null && (await canBeMade(dataFolder))) return { path: dataFolder, note: null }
  if (process.platform === 'win32') return { path: dataFolder ?? join('C:\\ProgramData', 'voxmux'), note: null }
  const why = dataFolder === null ? 'This user has no home' : `${dataFolder} cannot be written`
  return { path: SYSTEM_STATE_FOLDER, note: `${why}: state is kept in ${SYSTEM_STATE_FOLDER}.` }
}

/**
 * Makes the state folder, or closes it to others.
 *
 * @returns its path
 * @throws UsageError `ERR_STATE_DIR`
 */
export async function ensureStateFolder(path: string): Promise<string> {
  try {
    await makeDurableFolder(path, 0o700)
    const stats = await stat(path)
    if (process.platform !== 'win32') {
      const self = process.getuid?.()
      if (self !== 0 && stats.uid !== self) throw new Error('it belongs to another user')
      if ((stats.mode & 0o077) !== 0) await chmod(path, 0o700)
    }
    await access(path, constants.W_OK | constants.X_OK)
    return path
  } catch (cause) {
    throw stateFolderError(path, cause)
  }
}

function stateFolderError(path: string, cause: unknown): UsageError {
  const { code, message } = cause as NodeJS.ErrnoException
  const reason =
    code === 'EACCES' || code === 'EPERM' || code === 'EROFS'
      ? 'no permission'
      : code === 'EEXIST' || code === 'ENOTDIR'
        ? 'there is a file in its place'
        : message
  return new UsageError('ERR_STATE_DIR', `The state folder ${path} cannot be used: ${reason}.`, {
    cause,
    remedies: ['Set VOXMUX_STATE_DIR to a folder that belongs to the user that runs voxmux.'],
  })
}

async function canBeMade(path: string): Promise<boolean> {
  for (let folder = path; ; folder = dirname(folder)) {
    try {
      await access(folder, constants.W_OK | constants.X_OK)
      return true
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || dirname(folder) === folder) return false
    }
  }
}
