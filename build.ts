/**
 * Builds `dist`: `npm run build`. The compiler checks the types and writes the declarations; it keeps both, so that the
 * next build does only what changed. esbuild joins the modules.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildSync } from 'esbuild'
import { writeDeclarations } from './commonjs-entries.js'
import { buildNodePackages } from './plugins/node-packages.js'

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))
/** What package.json and the worker threads name. */
const ENTRIES = [
  ...['src/index.ts', 'src/service/index.ts', 'src/cli/main.ts', 'src/voice/voice-worker.ts'],
  ...['script-step', 'hls', 'timelines', 'watch-folder', 'mcp'].map((plugin) => `plugins/${plugin}/index.ts`),
]

/** What the compiler keeps. Checkouts that are linked to one `node_modules` have a folder each. */
const KEPT = at(`node_modules/.cache/voxmux-build/${createHash('sha256').update(at('.')).digest('hex').slice(0, 16)}`)

/** A package of CommonJS loads the modules of Node with it. */
const REQUIRE = `import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url)`

type Kind = 'dependencies' | 'optionalDependencies' | 'peerDependencies'
type Manifest = Readonly<Record<Kind, Readonly<Record<string, string>>>>

// The documentation asks for the packages of `dist`, and builds nothing.
if (process.argv[1] && realpathSync(process.argv[1]) === at('build.ts')) build()

function build(): void {
  rmSync(at('dist'), { recursive: true, force: true })
  const compiler = createRequire(import.meta.url).resolve('typescript/bin/tsc')
  const declarations = join(KEPT, 'declarations')
  try {
    const keep = ['--incremental', '--tsBuildInfoFile', join(KEPT, 'tsbuildinfo'), '--outDir', declarations]
    execFileSync(process.execPath, [compiler, '-p', at('tsconfig.build.json'), ...keep], { stdio: 'inherit' })
    const exported = ENTRIES.filter((path) => path.endsWith('/index.ts'))
    writeDeclarations(exported, declarations, at('dist'))
    bundle({ write: true })
    buildNodePackages()
  } catch {
    // Both have said what is wrong.
    process.exit(1)
  }
  chmodSync(at('dist/src/cli/main.js'), 0o755)
}

/**
 * Joins our modules, because a command that loads 440 files spends a second on reading them. A package that is imported
 * and is only a devDependency becomes part of `dist`: an installation has fewer packages, and of each only what is used.
 *
 * One call joins every entry, so modules that two entries share are one chunk: an extension that imports `voxmux`
 * throws the very classes that the command catches.
 *
 * @param write whether `dist` is written
 * @returns the folders of the packages that are part of `dist`, as `node_modules/got`, sorted
 * @throws {Error} if esbuild fails; it has printed the reason
 */
export function bundle({ write }: { readonly write: boolean }): readonly string[] {
  const manifest = JSON.parse(readFileSync(at('package.json'), 'utf8')) as Manifest
  const { dependencies, optionalDependencies, peerDependencies } = manifest
  const { metafile } = buildSync({
    absWorkingDir: at('.'),
    entryPoints: ENTRIES,
    bundle: true,
    splitting: true,
    external: [dependencies, optionalDependencies, peerDependencies].flatMap((packages) => Object.keys(packages)),
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    banner: { js: REQUIRE },
    outbase: '.',
    outdir: 'dist',
    // As deep as a room, so that `../` leads to the same folder from a module and from its chunk.
    chunkNames: 'src/chunks/[name]-[hash]',
    logLevel: 'warning',
    metafile: true,
    write,
  })
  const modules = Object.values(metafile.outputs).flatMap(({ inputs }) => Object.keys(inputs))
  const folders = modules.flatMap((path) => /^.*node_modules\/(@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? [])
  return [...new Set(folders)].sort()
}
