/**
 * `npm run docs`: writes what the documentation says of the code from the code itself. A test keeps it up to date.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { GENERATED_PAGES, renderPage } from './pages.js'

for (const page of GENERATED_PAGES) {
  const path = fileURLToPath(new URL(`../${page.path}`, import.meta.url))
  writeFileSync(path, renderPage(page, readFileSync(path, 'utf8')))
}
