import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Sentence, sentencesOfPage, sentencesOfSource } from './sentences.js'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
/** Pages that show what not to write, and a dialogue that is spoken. */
const EXEMPT = new Set(['docs/style.md', 'docs/prose/rules.ts', 'fixtures/recipes/dialogue.ts'])

/** Every sentence of the repository that people read: pages, comments and messages. Tests are code, not prose. */
export function readProse(): readonly Sentence[] {
  const listed = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: ROOT, encoding: 'utf8' })
  return listed.split('\n').flatMap((path) => {
    if (EXEMPT.has(path) || !existsSync(join(ROOT, path))) return []
    if (path.endsWith('.md')) return sentencesOfPage(path, readFileSync(join(ROOT, path), 'utf8'))
    if (!/^(src|plugins|docs|fixtures)\/.*\.(ts|js)$/.test(path)) return []
    return sentencesOfSource(path, readFileSync(join(ROOT, path), 'utf8'))
  })
}
