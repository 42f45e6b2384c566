import { readdir, realpath, stat } from 'node:fs/promises'
import { basename, extname, isAbsolute, join, resolve } from 'node:path'
import { isMediaName } from '../../src/pipeline/plan/expand-inputs.js'
import { nameOfPath } from './media-path.js'
import type { TimelineSource } from './timeline.js'

/** Folders below a media root that are looked into, at the most: a mistyped `/` should not be read for an hour. */
const MOST_ENTRIES = 200_000

/** Result of the search for a source. */
type FoundMedia =
  /** `isNamesake`: it lies elsewhere than the timeline says, and was found by its name. */
  | { readonly kind: 'found'; readonly path: string; readonly isNamesake: boolean }
  | { readonly kind: 'offline' }
  /** Several files by that name, none of which lies more alike than the others. */
  | { readonly kind: 'ambiguous'; readonly paths: readonly string[] }
  /** The only file by that name stands for the source at another address. */
  | { readonly kind: 'taken'; readonly path: string; readonly by: string }

/**
 * Finds the media of a timeline: at their address, or else by name in the media roots and beside the timeline. A name
 * without an extension (a reel) finds the file of that stem. Two addresses that end in one name are two files, such as
 * those of two cards. If only one of them is there, it is the file whose folders are called most alike.
 *
 * @param folder of the timeline
 * @param roots absolute, searched with all folders below
 * @returns real paths: the same file by two names is one
 */
export async function findMedia(
  sources: readonly TimelineSource[],
  folder: string,
  roots: readonly string[],
): Promise<ReadonlyMap<TimelineSource, FoundMedia>> {
  let index: ReturnType<typeof indexOf> | undefined
  const found = new Map<TimelineSource, FoundMedia>()
  for (const source of sources) {
    let own = await foundByAddress(source, folder)
    if (!own) {
      index ??= indexOf(folder, roots)
      own = await foundByName(source, await index)
    }
    found.set(source, own)
  }
  return new Map([...found].map(([source, own]) => [source, takenOr(own, source, found)]))
}

async function foundByAddress({ paths }: TimelineSource, folder: string): Promise<FoundMedia | undefined> {
  for (const path of paths) {
    const candidate = isAbsolute(path) ? path : resolve(folder, path)
    if (await isFile(candidate)) return { kind: 'found', path: await realpath(candidate), isNamesake: false }
  }
  return undefined
}

async function foundByName(
  { name, paths }: TimelineSource,
  index: Awaited<ReturnType<typeof indexOf>>,
): Promise<FoundMedia> {
  const wanted = [...paths.map(nameOfPath), name].filter((text) => text !== '')
  for (const text of new Set(wanted)) {
    const found = [...new Set(index.get(keyOf(text)) ?? [])]
    const [first, ...others] = mostAlike(found, paths[0] ?? text)
    if (first && others.length === 0) return { kind: 'found', path: await realpath(first), isNamesake: true }
    if (first) return { kind: 'ambiguous', paths: [first, ...others] }
  }
  return { kind: 'offline' }
}

/** The file of a source, unless another source has a better or an equal claim to it. */
function takenOr(own: FoundMedia, source: TimelineSource, all: ReadonlyMap<TimelineSource, FoundMedia>): FoundMedia {
  const address = addressIn(source)
  if (own.kind !== 'found' || !own.isNamesake || address === undefined) return own
  for (const [other, one] of all) {
    const wanted = addressIn(other)
    if (one.kind !== 'found' || one.path !== own.path || wanted === undefined) continue
    const isSame = other.paths.some((path) => source.paths.some((mine) => keyOf(mine) === keyOf(path)))
    const isBetter = one.isNamesake && sharedEnd(own.path, address) > sharedEnd(own.path, wanted)
    if (!isSame && !isBetter) return { kind: 'taken', path: own.path, by: wanted }
  }
  return own
}

/** A path with a folder: a name alone says nothing of where its file lies. */
function addressIn({ paths }: TimelineSource): string | undefined {
  return paths.find((path) => /[/\\]/.test(path))
}

/** Every file of a folder, and of the roots with all folders below, by its name and by its stem. */
async function indexOf(flat: string, roots: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
  const index = new Map<string, string[]>()
  const put = (key: string, path: string) => index.set(key, [...(index.get(key) ?? []), path])
  let left = MOST_ENTRIES
  for (const root of [flat, ...roots]) {
    const isDeep = root !== flat || roots.includes(flat)
    const folders = [root]
    for (let folder = folders.pop(); folder !== undefined && left > 0; folder = folders.pop()) {
      const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
      left -= entries.length
      for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
        const { name } = entry
        if (name.startsWith('.')) continue
        const path = join(folder, name)
        if (!entry.isDirectory()) put(keyOf(name), path)
        // A reel is a recording, not the text or picture of its name that lies beside it.
        if (!entry.isDirectory() && isMediaName(name)) put(keyOf(basename(name, extname(name))), path)
        if (entry.isDirectory() && isDeep) folders.push(path)
      }
    }
  }
  return index
}

/** The candidates that share the most of their last folders with the path that the timeline gives. */
function mostAlike(candidates: readonly string[], wanted: string): readonly string[] {
  const scores = candidates.map((path) => sharedEnd(path, wanted))
  const best = Math.max(...scores)
  return candidates.filter((_, index) => scores[index] === best)
}

function sharedEnd(a: string, b: string): number {
  const [one, other] = [a, b].map((path) => path.split(/[/\\]/).reverse()) as [string[], string[]]
  const different = one.findIndex((part, index) => keyOf(part) !== keyOf(other[index] ?? ''))
  return different === -1 ? one.length : different
}

/** File systems differ in case and in how they write accents; people do not mean either. */
function keyOf(name: string): string {
  return name.normalize('NFC').toLowerCase()
}

async function isFile(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined)
  return found?.isFile() === true
}
