import { readFileSync } from 'node:fs'
import { PACKAGE_FOLDER } from '../../../src/core/package-folder.js'

const TYPES = { html: 'text/html', css: 'text/css', js: 'text/javascript', svg: 'image/svg+xml' } as const

/** All files of the page. The list is closed, so that a name from outside never becomes a path. */
const NAMES = [
  ...['index.html', 'style.css', 'icon.svg'],
  ...['app.js', 'announce.js', 'connection.js', 'elements.js', 'format.js', 'job-detail.js', 'job-lists.js'],
  ...['overview.js', 'player.js', 'receipt.js', 'visible-text.js'],
] as const

/** The page is served as it is written. */
const PAGE = new URL('plugins/watch-folder/dashboard/page/', PACKAGE_FOLDER)

export interface PageFile {
  readonly type: string
  readonly text: string
}

/** Reads the files of the page once, at the start. */
export function readPageFiles(): ReadonlyMap<string, PageFile> {
  return new Map(
    NAMES.map((name) => {
      const extension = name.slice(name.lastIndexOf('.') + 1) as keyof typeof TYPES
      const text = readFileSync(new URL(name, PAGE), 'utf8')
      return [name, { type: `${TYPES[extension]}; charset=utf-8`, text }]
    }),
  )
}
