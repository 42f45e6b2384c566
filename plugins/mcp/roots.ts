import { isAbsolute, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { UsageError } from '../../src/core/errors.js'
import { realPathOf } from '../../src/core/make-folder.js'

/** The folders that the tools may read and write: a path must be in one folder of each list. */
export class Roots {
  readonly #lists: readonly (readonly string[])[]

  /** @param lists the folders of `--root` and those of the client; an empty list is left out */
  private constructor(lists: readonly (readonly string[])[]) {
    this.#lists = lists
  }

  /**
   * Resolves the links of the roots.
   *
   * @param fixed folders of `--root`; empty for none
   * @param ofClient addresses of the client's roots; null if the client has none. Those without a path here are left out
   * @throws {UsageError} `ERR_MCP_ROOTS` if there are neither
   */
  static async of(fixed: readonly string[], ofClient: readonly string[] | null): Promise<Roots> {
    const given = [fixed, ofClient?.flatMap((uri) => localFolder(uri)) ?? []].filter((list) => list.length > 0)
    const lists = await Promise.all(given.map((list) => Promise.all(list.map((path) => realPathOf(path)))))
    if (lists.length > 0) return new Roots(lists)
    throw new UsageError('ERR_MCP_ROOTS', 'No folder is open to this client, so no file can be read.', {
      remedies: ['Start the server with `voxmux mcp --root FOLDER`, or name a root in the client.'],
    })
  }

  /**
   * The real place of a path, with all links resolved. A relative path starts at the first root.
   *
   * @throws {UsageError} `ERR_OUTSIDE_ROOTS`
   */
  async require(path: string): Promise<string> {
    const first = this.#lists.at(-1)?.[0] ?? sep
    const place = await realPathOf(resolve(first, path))
    if (this.#lists.every((list) => list.some((root) => isInside(place, root)))) return place
    throw new UsageError('ERR_OUTSIDE_ROOTS', `${path} is outside the folders that are open to this client.`, {
      input: path,
      remedies: [
        `Use a file in ${this.#lists.map((list) => list.join(', ')).join(', and in ')}.`,
        'Or start the server with `--root` for its folder, and add that folder to the roots of the client.',
      ],
    })
  }
}

function localFolder(uri: string): readonly string[] {
  try {
    return [fileURLToPath(uri)]
  } catch {
    return []
  }
}

function isInside(path: string, root: string): boolean {
  const way = relative(root, path)
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}
