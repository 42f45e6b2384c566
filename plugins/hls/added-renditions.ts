import { constants } from 'node:fs'
import { copyFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { makeFolder } from '../../src/core/make-folder.js'
import type { PackageFolder } from './package-folder.js'
import type { HlsPackage, Rendition } from './read-package.js'
import type { RewrittenRendition } from './rewrite-rendition.js'

/** Folder of added renditions in the package. Their playlists and segments have the same names in it. */
export const ADDED_FOLDER = 'clear-dialogue'
/** The mark of clear dialogue in Apple's authoring specification (2.28). */
const CHARACTERISTIC = 'public.accessibility.enhances-speech-intelligibility'

/** The renditions that get another beside them: those of a group that has none of their language yet. */
export function renditionsToAdd({ renditions, masterPlaylist }: HlsPackage): readonly Rendition[] {
  const marked = masterPlaylist.entries.filter(({ attributes }) =>
    attributes.get('CHARACTERISTICS')?.includes(CHARACTERISTIC),
  )
  return renditions.filter(({ group, language }) => {
    const isThere = marked.some(
      ({ attributes }) => attributes.get('GROUP-ID') === group && (attributes.get('LANGUAGE') ?? null) === language,
    )
    return group !== null && !isThere
  })
}

/**
 * Adds a rendition after each regenerated one: of the same group and language, never the default.
 *
 * @param lines of the master, one for one those that were read
 * @param locate path of an address that the master names
 */
export function withAddedRenditions(
  lines: readonly string[],
  { masterPlaylist }: HlsPackage,
  rewritten: readonly RewrittenRendition[],
  locate: (uri: string) => string,
): readonly string[] {
  const paths = new Set(rewritten.map(({ rendition }) => rendition.path))
  const added = new Map(
    masterPlaylist.entries.flatMap(({ tag, uri, line, attributes }): [number, string[]][] =>
      tag === 'EXT-X-MEDIA' && uri !== null && paths.has(locate(uri)) ? [[line, [addedLine(attributes, uri)]]] : [],
    ),
  )
  return lines.flatMap((line, place) => [line, ...(added.get(place) ?? [])])
}

/** Attributes whose values are not quoted (RFC 8216, 4.3.4.1). */
const PLAIN: ReadonlySet<string> = new Set(['TYPE', 'DEFAULT', 'AUTOSELECT', 'FORCED', 'BIT-DEPTH', 'SAMPLE-RATE'])

function addedLine(attributes: ReadonlyMap<string, string>, uri: string): string {
  const marks = [attributes.get('CHARACTERISTICS'), CHARACTERISTIC].filter((mark) => mark !== undefined)
  const stableId = attributes.get('STABLE-RENDITION-ID')
  const changed = new Map(attributes)
  changed.set('NAME', `${attributes.get('NAME')} (clear dialogue)`)
  // Players choose among renditions of a language by the characteristics that a viewer prefers.
  changed.set('DEFAULT', 'NO').set('AUTOSELECT', 'YES').set('CHARACTERISTICS', marks.join(','))
  if (stableId !== undefined) changed.set('STABLE-RENDITION-ID', `${stableId}.clear`)
  changed.set('URI', `${ADDED_FOLDER}/${uri}`)
  const text = [...changed].map(([name, value]) => `${name}=${PLAIN.has(name) ? value : `"${value}"`}`)
  return `#EXT-X-MEDIA:${text.join(',')}`
}

/**
 * Completes the added renditions: writes their playlists, and copies the files that segments need.
 *
 * @param target folder of the new package, with the new segments in {@link ADDED_FOLDER}
 * @returns paths of all their files
 */
export async function writeAddedRenditions(
  { media }: HlsPackage,
  folder: PackageFolder,
  target: string,
  rewritten: readonly RewrittenRendition[],
): Promise<readonly string[]> {
  const paths = new Set<string>()
  const place = async (path: string) => {
    const added = join(ADDED_FOLDER, path)
    paths.add(added)
    makeFolder(dirname(join(target, added)))
    return join(target, added)
  }
  for (const { rendition, lines, files } of rewritten) {
    await writeFile(await place(rendition.path), lines.join('\n'), { flag: 'wx' })
    for (const file of files) await place(file)
    for (const [path, playlists] of media) {
      if (!playlists.has(rendition.path) || paths.has(join(ADDED_FOLDER, path))) continue
      await copyFile(await folder.file(path), await place(path), constants.COPYFILE_FICLONE)
    }
  }
  return [...paths]
}
