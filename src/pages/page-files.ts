import { readdirSync, readFileSync } from 'node:fs'
import { PACKAGE_FOLDER } from '../core/package-folder.js'

const TYPES = { html: 'text/html', css: 'text/css', js: 'text/javascript', svg: 'image/svg+xml' } as const

/** The modules and styles that all pages share. They are served as they are written. */
const SHARED = 'src/pages/browser/'

export interface PageFile {
  readonly type: string
  readonly text: string
}

/**
 * Reads the files of a page and those that all pages share, once, at the start. A name from outside then never becomes a
 * path.
 *
 * @param folder of the page in the package, with a slash at its end
 */
export function readPageFiles(folder: string): ReadonlyMap<string, PageFile> {
  return new Map([SHARED, folder].flatMap((one) => readFolder(new URL(one, PACKAGE_FOLDER))))
}

function readFolder(folder: URL): readonly (readonly [string, PageFile])[] {
  return readdirSync(folder).map((name) => {
    const extension = name.slice(name.lastIndexOf('.') + 1) as keyof typeof TYPES
    return [name, { type: `${TYPES[extension]}; charset=utf-8`, text: readFileSync(new URL(name, folder), 'utf8') }]
  })
}
