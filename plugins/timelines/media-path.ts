import { realpathSync } from 'node:fs'
import { basename, dirname, isAbsolute, posix, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

/** The path of an address in a timeline: a path or a file URL in any encoding. Relative paths stay relative. */
export function pathOfAddress(address: string): string {
  const trimmed = address.trim()
  if (!/^file:/i.test(trimmed)) return isEncoded(trimmed) ? decoded(trimmed) : trimmed
  // Old bundles of OTIO name their media so: it is a relative path.
  if (/^file:[^/\\]/i.test(trimmed)) return pathOfAddress(trimmed.slice('file:'.length))
  const local = trimmed.replace(/^file:\/\/localhost\//i, 'file:///')
  try {
    // Signs that end the path of an address are part of a file's name: programs differ in whether they encode them.
    return fileURLToPath(local.replaceAll('#', '%23').replaceAll('?', '%3F'))
  } catch {
    // A URL of another system (a share's host on Linux, a drive), or one that was never encoded.
    return decoded(local.replace(/^file:(\/\/)?/i, ''))
  }
}

/** The file's name in a path of any system. */
export function nameOfPath(path: string): string {
  return posix.basename(path.replaceAll('\\', '/'))
}

/**
 * The address of an absolute path, written like another: as a path, a file URL, or `file://localhost/…`. A path that
 * looks encoded becomes a URL, because readers would decode it.
 */
export function addressOfPath(path: string, like: string): string {
  if (!/^file:/i.test(like.trim()) && pathOfAddress(path) === path) return path
  const url = pathToFileURL(path).href
  return /^\s*file:\/\/localhost\//i.test(like) ? url.replace('file:///', 'file://localhost/') : url
}

/**
 * The relative path of a new file beside the old one: a project can be moved with its media. Undefined if the
 * timeline has an absolute path, or one that does not lead to the old file.
 *
 * @param paths of the old file, as a source of a timeline has them; the last one is as written
 * @param folder of the timeline
 */
export function pathBeside(paths: readonly string[], folder: string, made: string): string | undefined {
  const [place, written] = [paths[0], paths.at(-1)]
  if (place === undefined || written === undefined || isAbsolute(written) || /^[a-z]:|\\/i.test(written))
    return undefined
  try {
    const old = resolve(folder, place)
    const isBeside = dirname(realpathSync(old)) === dirname(made) && realpathSync(dirname(old)) === dirname(made)
    return isBeside ? written.slice(0, -basename(written).length) + basename(made) : undefined
  } catch {
    // It is not there: the old file was found by its name.
    return undefined
  }
}

/** OTIO writes relative URLs encoded; a path with a percent sign of its own is none. */
function isEncoded(text: string): boolean {
  return /%[0-9a-f]{2}/i.test(text) && !/\s/.test(text)
}

/** Decodes an address; a percent sign that encodes nothing (`50%.mov`) stays as it is. */
function decoded(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (encoded) => {
    try {
      return decodeURIComponent(encoded)
    } catch {
      return encoded
    }
  })
}
