import { homedir, userInfo } from 'node:os'
import { isAbsolute } from 'node:path'

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
  try {
    const { default: envPaths } = await import('env-paths')
    const { config, data } = envPaths('voxmux', { suffix: '' })
    return { config: isAbsolute(config) ? config : null, data: isAbsolute(data) ? data : null }
  } catch {
    // A user id without an entry in the user database, as in containers.
    return { config: null, data: null }
  }
}

/** env-paths reads `os.homedir()` once, at import. With an empty HOME, every folder would be relative. */
function restoreHome(): void {
  try {
    if (process.platform !== 'win32' && !isAbsolute(homedir())) process.env.HOME = userInfo().homedir
  } catch {
    delete process.env.HOME
  }
}
