/** One place that machines see under different paths: a share, mounted here and mapped to a drive there. */
export interface PathRoot {
  /** Its name in the store, the same on every machine: `nas:`. */
  readonly store: string
  /** Where this machine has it: `/mnt/nas`, `Z:\`. */
  readonly here: string
}

/** A path as the store has it: the name of a root, of more letters than a drive's, and a path with slashes. */
const STORED = /^([A-Za-z][\w.-]+:)(?:\/(?!\/)|$)/

/** Turns paths of this machine into those of the store and back. */
export class PathRoots {
  readonly #roots: readonly PathRoot[]

  constructor(roots: readonly PathRoot[]) {
    // The deepest first: one share may be mounted within another.
    this.#roots = [...roots].sort((a, b) => b.here.length - a.here.length)
  }

  /** A path that lies in no root stays as it is. */
  toStore(path: string): string {
    for (const { store, here } of this.#roots) {
      const rest = restBelow(path, here)
      if (rest !== null) return `${store}${here.includes('\\') ? rest.replaceAll('\\', '/') : rest}`
    }
    return path
  }

  /** A path in a root that this machine lacks stays as the store has it. */
  toHere(path: string): string {
    const name = rootOf(path)
    const root = this.#roots.find(({ store }) => store === name)
    if (name === null || root === undefined) return path
    const rest = path.slice(name.length)
    const isWindows = root.here.includes('\\')
    // A drive without its separator would be the folder that was last used there.
    if (rest === '') return isWindows ? root.here : withoutEnd(root.here) || '/'
    return `${withoutEnd(root.here)}${isWindows ? rest.replaceAll('/', '\\') : rest}`
  }

  /** Where this machine has a root; null where it has it not. */
  hereOf(name: string): string | null {
    return this.#roots.find(({ store }) => store === name)?.here ?? null
  }
}

/** The name of the root that a path of the store begins with, null for any other text (an address too). */
export function rootOf(path: string): string | null {
  return STORED.exec(path)?.[1] ?? null
}

/** Every text in a value of plain JSON, replaced. */
export function mapTexts<T>(value: T, map: (text: string) => string): T {
  if (typeof value === 'string') return map(value) as T
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, map)) as T
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, mapTexts(item, map)])) as T
}

/** What follows a folder in a path, with its separator, or '' for the folder itself; null where it is elsewhere. */
function restBelow(path: string, folder: string): string | null {
  const base = withoutEnd(folder)
  // Windows knows no case; elsewhere two folders may differ by nothing else.
  const same = (a: string, b: string) => (folder.includes('\\') ? a.toLowerCase() === b.toLowerCase() : a === b)
  if (!same(path.slice(0, base.length), base)) return null
  const rest = path.slice(base.length)
  return rest === '' || /^[/\\]/.test(rest) ? rest : null
}

function withoutEnd(folder: string): string {
  return folder.replace(/[/\\]+$/, '')
}
