/** One folder with different paths on different machines: a share that is mounted here and mapped to a drive there. */
export interface PathRoot {
  /** Its name in the store, the same on every machine: `nas:`. */
  readonly store: string
  /** Its path on this machine: `/mnt/nas`, `Z:\`. */
  readonly here: string
}

/** A path in the store: the name of a root, with more letters than a drive's, and a path with slashes. */
const STORED = /^([A-Za-z][\w.-]+:)(?:\/(?!\/)|$)/

/** Converts paths of this machine to those of the store and back. */
export class PathRoots {
  readonly #roots: readonly PathRoot[]

  constructor(roots: readonly PathRoot[]) {
    // Deepest first, because one share may be mounted within another.
    this.#roots = [...roots].sort((a, b) => b.here.length - a.here.length)
  }

  /** Converts a path to the store's. A path outside all roots stays as it is. */
  toStore(path: string): string {
    for (const { store, here } of this.#roots) {
      const rest = restBelow(path, here)
      if (rest !== null) return `${store}${here.includes('\\') ? rest.replaceAll('\\', '/') : rest}`
    }
    return path
  }

  /** Converts a path to this machine's. A path in a root that this machine lacks stays as it is. */
  toHere(path: string): string {
    const name = rootOf(path)
    const root = this.#roots.find(({ store }) => store === name)
    if (name === null || root === undefined) return path
    const rest = path.slice(name.length)
    const isWindows = root.here.includes('\\')
    // A drive without its separator would mean the folder last used there.
    if (rest === '') return isWindows ? root.here : withoutEnd(root.here) || '/'
    return `${withoutEnd(root.here)}${isWindows ? rest.replaceAll('/', '\\') : rest}`
  }

  /** Path of a root on this machine; null if it has none. */
  hereOf(name: string): string | null {
    return this.#roots.find(({ store }) => store === name)?.here ?? null
  }
}

/** The name of the root at the beginning of a store path; null for any other text, including an address. */
export function rootOf(path: string): string | null {
  return STORED.exec(path)?.[1] ?? null
}

/** Replaces every text in a value of plain JSON. */
export function mapTexts<T>(value: T, map: (text: string) => string): T {
  if (typeof value === 'string') return map(value) as T
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, map)) as T
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, mapTexts(item, map)])) as T
}

/** The rest of a path after a folder, with its separator, or '' for the folder itself; null if it is elsewhere. */
function restBelow(path: string, folder: string): string | null {
  const base = withoutEnd(folder)
  // Windows ignores case; elsewhere two folders may differ only by case.
  const same = (a: string, b: string) => (folder.includes('\\') ? a.toLowerCase() === b.toLowerCase() : a === b)
  if (!same(path.slice(0, base.length), base)) return null
  const rest = path.slice(base.length)
  return rest === '' || /^[/\\]/.test(rest) ? rest : null
}

function withoutEnd(folder: string): string {
  return folder.replace(/[/\\]+$/, '')
}
