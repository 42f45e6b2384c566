/**
 * Builds `dist`: `npm run build`. The compiler alone, for there is nothing to bundle: one module a source file, so that
 * `new URL(…, import.meta.url)` (worker threads, presets) resolves the same way in src/ and in dist/, and a stack trace
 * names the file a person can open. The package speaks of itself by name, as a stranger's plugin does: there is one copy
 * of every module in a process.
 */
import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, readdirSync, renameSync, rmdirSync, rmSync } from 'node:fs'
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
// Rooms of src stand at the top of the package.
for (const room of readdirSync(at('dist/src'))) renameSync(at(`dist/src/${room}`), at(`dist/${room}`))
rmdirSync(at('dist/src'))
// What the dashboard serves is served as it is written.
cpSync(at(PAGE), at(`dist/${PAGE}`), { recursive: true })
chmodSync(at('dist/cli/main.js'), 0o755)
