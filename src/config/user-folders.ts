import { homedir, userInfo } from 'node:os'
import { isAbsolute } from 'node:path'

/** The folders of the person (or daemon) that runs voxmux; null where the system gives it no home. */
export interface UserFolders {
  /** Holds `config.json`. */
  readonly config: string | null
  /** Default of the state folder. */
  readonly data: string | null
}

/**
 * Finds the folders after the system's custom (XDG, Library, AppData). Without HOME, the home of the user database
 * counts; hooks of streaming servers are started that way.
 */
export async function findUserFolders(): Promise<UserFolders> {
  restoreHome()
  try {
    const { default: envPaths } = await import('env-paths')
    const { config, data } = envPaths('voxmux', { suffix: '' })
    return { config: isAbsolute(config) ? config : null, data: isAbsolute(data) ? data : null }
  } catch {
    // A user id without an entry in the user database: containers run that way.
    return { config: null, data: null }
  }
}

/** env-paths asks `os.homedir()` once, at import: an empty HOME would make every folder relative. */
function restoreHome(): void {
  try {
    if (process.platform !== 'win32' && !isAbsolute(homedir())) process.env.HOME = userInfo().homedir
  } catch {
    delete process.env.HOME
  }
}
