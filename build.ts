/**
 * Builds `dist`: `npm run build`. The compiler alone does it, because nothing needs bundling. Each source file becomes
 * one module at the same place in `dist`, so relative paths hold and a stack trace names the file a person can open.
 */
import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const PAGE = 'plugins/watch-folder/dashboard/page'

rmSync(at('dist'), { recursive: true, force: true })
const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc')
try {
  execFileSync(process.execPath, [compiler, '-p', at('tsconfig.build.json')], { stdio: 'inherit' })
} catch {
  // The compiler has said what is wrong.
  process.exit(1)
}
// What the dashboard serves is served as it is written.
cpSync(at(PAGE), at(`dist/${PAGE}`), { recursive: true })
chmodSync(at('dist/src/cli/main.js'), 0o755)
