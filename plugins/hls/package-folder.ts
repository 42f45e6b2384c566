import { readFile, realpath, stat } from 'node:fs/promises'
import { basename, dirname, join, posix, resolve, sep } from 'node:path'
import { PrecheckError, UsageError } from '../../src/core/errors.js'
import { isSameState, type QuickIdentity, quickIdentity } from '../../src/core/file-identity.js'
import { inputChanged } from '../../src/pipeline/input-guard.js'
import { isWebAddress, shownInput } from '../../src/pipeline/web-address.js'

/** Text of a playlist: a few megabytes for a day of short segments. */
const PLAYLIST_MAX_BYTES = 32 * 1024 * 1024

/** The folder of a package: other hosts, absolute paths and whatever leads out of it are rejected. */
export class PackageFolder {
  /** Absolute, without symlinks. */
  readonly root: string
  /** State of each file when it was first looked for. */
  readonly #seen = new Map<string, QuickIdentity>()

  private constructor(root: string) {
    this.root = root
  }

  /** The folder of a playlist, and the playlist's name in it. @throws {UsageError} ERR_INPUT_MISSING */
  static async around(playlist: string): Promise<{ folder: PackageFolder; master: string }> {
    if (isWebAddress(playlist)) {
      throw new UsageError('ERR_INPUT_MISSING', `${shownInput(playlist)} is an address and not a file.`, {
        remedies: ['Download the package, and name its master playlist on this machine.'],
      })
    }
    const path = resolve(playlist)
    const found = await stat(path).catch(() => null)
    if (!found?.isFile()) {
      throw new UsageError('ERR_INPUT_MISSING', `${path} ${found ? 'is not a file' : 'does not exist'}.`, {
        input: path,
        remedies: ['Name the master playlist of the package, an .m3u8 file.'],
      })
    }
    return { folder: new PackageFolder(await realpath(dirname(path))), master: basename(path) }
  }

  /**
   * Finds the path in the package that an address leads to.
   *
   * @param playlist the playlist that names it, relative to the root
   * @returns path relative to the root, with slashes
   * @throws PrecheckError ERR_HLS_OUTSIDE
   */
  locate(uri: string, playlist: string): string {
    let plain: string
    try {
      plain = decodeURIComponent(uri)
    } catch {
      throw outside(uri, playlist, 'is no address')
    }
    if (/^[a-z][a-z0-9+.-]*:/i.test(plain) || plain.startsWith('//')) throw outside(uri, playlist, 'is elsewhere')
    if (/[\\?#]|\{\$/.test(plain) || [...plain].some((sign) => sign < ' '))
      throw outside(uri, playlist, 'is not a plain path')
    const path = posix.join(posix.dirname(playlist), plain)
    if (plain === '' || plain.startsWith('/') || path === '..' || path.startsWith('../')) {
      throw outside(uri, playlist, 'does not lie below the master playlist')
    }
    return path
  }

  /**
   * Absolute path of a file that is there.
   *
   * @throws {PrecheckError} ERR_HLS_OUTSIDE, ERR_HLS_FILE_MISSING; {JobFailedError} ERR_INPUT_CHANGED if it is not as it
   *   was when it was looked for first
   */
  async file(path: string): Promise<string> {
    const real = await realpath(join(this.root, path)).catch(() => null)
    const found = real === null ? null : await stat(real)
    if (real === null || !found?.isFile()) {
      throw new PrecheckError('ERR_HLS_FILE_MISSING', `The package lacks ${path}, which a playlist names.`, {
        input: join(this.root, path),
        remedies: ['Copy the complete package again.'],
      })
    }
    if (!real.startsWith(this.root + sep)) throw outside(path, path, 'is a link that leads out of the package')
    const state = await quickIdentity(real)
    const before = this.#seen.get(path)
    if (before && !isSameState(before, state)) throw inputChanged(real)
    this.#seen.set(path, state)
    return real
  }

  /** Requires that no file changed since it was first looked for. @throws as {@link file} */
  async requireSame(): Promise<void> {
    for (const path of this.#seen.keys()) await this.file(path)
  }

  /** Text of a playlist. @throws PrecheckError ERR_HLS_PLAYLIST if it is far too long, and those of {@link file} */
  async text(path: string): Promise<string> {
    const file = await this.file(path)
    const { size } = await stat(file)
    if (size > PLAYLIST_MAX_BYTES) {
      throw new PrecheckError(
        'ERR_HLS_PLAYLIST',
        `The playlist ${path} has ${size} bytes, which is too long for a playlist.`,
        {
          input: file,
        },
      )
    }
    return readFile(file, 'utf8')
  }
}

function outside(uri: string, playlist: string, why: string): PrecheckError {
  return new PrecheckError('ERR_HLS_OUTSIDE', `${playlist} names ${JSON.stringify(uri)}, which ${why}.`, {
    input: playlist,
    remedies: ['Put every file of the package into one folder and name them by relative paths.'],
  })
}
