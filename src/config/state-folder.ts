import { constants } from 'node:fs'
import { access, chmod, stat } from 'node:fs/promises'
import { homedir, userInfo } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'
import { thrownMessage, UsageError } from '../core/errors.js'
import { makeDurableFolder, reasonAgainstFolder } from '../core/make-folder.js'

/** For daemons without a home. The installer of the daemon creates it and makes the daemon's user its owner. */
export const SYSTEM_STATE_FOLDER = '/var/lib/voxmux'

/**
 * Chooses the default state folder: the user's data folder, else the system's. Others could plant files in a shared one.
 *
 * @returns its path, and a note for the user if it is not the usual folder
 */
export async function defaultStateFolder(dataFolder: string | null) {
  if (dataFolder !== null && (await canBeMade(dataFolder))) return { path: dataFolder, note: null }
  if (process.platform === 'win32') return { path: dataFolder ?? join('C:\\ProgramData', 'voxmux'), note: null }
  const why = dataFolder === null ? 'This user has no home folder' : `${dataFolder} is not writable`
  return { path: SYSTEM_STATE_FOLDER, note: `${why}, so voxmux uses the state folder ${SYSTEM_STATE_FOLDER}.` }
}

/**
 * Creates the state folder, or removes the access of others.
 *
 * @param flag the flag that names it; without one, the remedy names the variable
 * @returns its path
 * @throws {UsageError} `ERR_STATE_DIR`
 */
export async function ensureStateFolder(path: string, flag?: string): Promise<string> {
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
    throw stateFolderError(path, cause, flag ?? 'VOXMUX_STATE_DIR')
  }
}

function stateFolderError(path: string, cause: unknown, setting: string): UsageError {
  const reason = reasonAgainstFolder(cause) ?? thrownMessage(cause)
  const folder = setting === '--data' ? 'data' : 'state'
  return new UsageError('ERR_STATE_DIR', `The ${folder} folder ${path} cannot be used: ${reason}.`, {
    cause,
    remedies: [`Set ${setting} to a folder of the user that runs voxmux.`],
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

/** The folders of the user or daemon that runs voxmux; null if the system gives it no home. */
export interface UserFolders {
  /** Holds `config.json`. */
  readonly config: string | null
  /** The default state folder. */
  readonly data: string | null
}

/**
 * Finds the folders of the system's convention (XDG, Library, AppData). Without HOME, uses the home in the user
 * database: streaming servers start their hooks that way.
 */
export async function findUserFolders(): Promise<UserFolders> {
  restoreHome()
  const { default: envPaths } = await import('env-paths')
  const { config, data } = envPaths('voxmux', { suffix: '' })
  return { config: isAbsolute(config) ? config : null, data: isAbsolute(data) ? data : null }
}

/** Some packages read `os.homedir()` at any time. With an empty HOME, their folders would be relative. */
function restoreHome(): void {
  try {
    if (process.platform !== 'win32' && !isAbsolute(homedir())) process.env.HOME = userInfo().homedir
  } catch {
    // A user id without an entry in the user database. Container engines give it the same home.
    process.env.HOME = '/'
  }
}
