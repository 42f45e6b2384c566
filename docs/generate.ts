/**
 * `npm run docs`: writes what the documentation says of the code from the code itself. A test keeps it up to date.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { GENERATED_FILES, GENERATED_PAGES, renderPage } from './pages.js'

const pathOf = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url))

for (const page of GENERATED_PAGES) {
  const path = pathOf(page.path)
  writeFileSync(path, renderPage(page, readFileSync(path, 'utf8')))
}
for (const { path, write } of GENERATED_FILES) writeFileSync(pathOf(path), await write())
