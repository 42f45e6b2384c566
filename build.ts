/**
 * Builds `dist`: `npm run build`. The compiler checks the types and writes the declarations; it keeps both, so that the
 * next build does only what changed. esbuild joins our modules, because a command that loads 440 files spends a second on
 * reading them. Packages stay as they are installed.
 *
 * One call builds every entry, so modules that two entries share are one chunk: an extension that imports `voxmux`
 * throws the very classes that the command catches.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, cpSync, existsSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { writeCommonJsEntries } from './commonjs-entries.js'

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))
/** What package.json and the worker threads name. */
const ENTRIES = [
  ...['src/index.ts', 'src/service/index.ts', 'src/cli/main.ts', 'src/voice/voice-worker.ts'],
  ...['script-step', 'hls', 'timelines', 'watch-folder', 'mcp'].map((plugin) => `plugins/${plugin}/index.ts`),
]

/** What the compiler keeps. Checkouts that are linked to one `node_modules` have a folder each. */
const KEPT = at(`node_modules/.cache/voxmux-build/${createHash('sha256').update(at('.')).digest('hex').slice(0, 16)}`)
const DECLARATIONS = join(KEPT, 'declarations')
const declarationOf = (path: string) => at(`dist/${path.replace(/\.ts$/, '.d.ts')}`)

rmSync(at('dist'), { recursive: true, force: true })
const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc')
try {
  const keep = ['--incremental', '--tsBuildInfoFile', join(KEPT, 'tsbuildinfo'), '--outDir', DECLARATIONS]
  execFileSync(process.execPath, [compiler, '-p', at('tsconfig.build.json'), ...keep], { stdio: 'inherit' })
  // Those of modules that are gone are still there.
  const hasSource = (path: string) => existsSync(at(relative(DECLARATIONS, path).replace(/\.d\.ts$/, '.ts')))
  cpSync(DECLARATIONS, at('dist'), { recursive: true, filter: hasSource })
  writeCommonJsEntries(ENTRIES.filter((path) => path.endsWith('/index.ts')).map(declarationOf))
  await build({
    absWorkingDir: at('.'),
    entryPoints: ENTRIES,
    bundle: true,
    splitting: true,
    packages: 'external',
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    outbase: '.',
    outdir: 'dist',
    // As deep as a room, so that `../` leads to the same folder from a module and from its chunk.
    chunkNames: 'src/chunks/[name]-[hash]',
    logLevel: 'warning',
  })
} catch {
  // Both have said what is wrong.
  process.exit(1)
}
chmodSync(at('dist/src/cli/main.js'), 0o755)
