/**
 * `npm run pack-test`: packs voxmux, looks at what is in the tarball, installs it in an empty folder outside the
 * repository, and uses it as a stranger would: the command, the types under NodeNext strict, the code.
 */
import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { checkContents } from './tarball-contents.js'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const tempDir = mkdtempSync(join(tmpdir(), 'voxmux-pack-'))
try {
  const tarballPath = pack()
  const appDir = install(tarballPath)
  expectVersion(appDir)
  compileAndRun(appDir)
  regenerateOne(appDir)
  say('the packed voxmux installs, answers and compiles')
} finally {
  rmSync(tempDir, { recursive: true, force: true })
}

function pack(): string {
  const answer = run('npm', ['pack', '--json', '--loglevel=error', '--pack-destination', tempDir], ROOT)
  // What `prepare` prints comes before the JSON.
  const [tarball] = JSON.parse(answer.slice(answer.search(/^\[\s*\{/m))) as [PackedTarball]
  const problems = checkContents(tarball.files.map(({ path }) => path))
  if (problems.length > 0) throw new Error(`The tarball is wrong:\n${problems.join('\n')}`)
  const { mode } = tarball.files.find(({ path }) => path === 'dist/cli/main.js') ?? { mode: 0 }
  if ((mode & 0o111) === 0) throw new Error('dist/cli/main.js is not executable in the tarball.')
  say(`${tarball.filename}: ${tarball.files.length} files, ${Math.round(tarball.size / 1024)} KB packed`)
  return join(tempDir, tarball.filename)
}

/** Only voxmux and what it needs: what voxmux wants of its users' machines is what it says in its own package.json. */
function install(tarballPath: string): string {
  const appDir = join(tempDir, 'app')
  mkdirSync(appDir)
  writeFileSync(join(appDir, 'package.json'), JSON.stringify({ name: 'app', private: true, type: 'module' }))
  const { devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest
  const types = `@types/node@${devDependencies['@types/node'] ?? '20'}`
  run('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', tarballPath, types], appDir)
  return appDir
}

function expectVersion(appDir: string): void {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest
  const printed = run('npx', ['--no-install', 'voxmux', '--version'], appDir).trim()
  if (printed !== version) throw new Error(`npx voxmux --version printed "${printed}", not ${version}.`)
  say(`npx voxmux --version: ${printed}`)
}

function compileAndRun(appDir: string): void {
  const files = ['stranger.ts', 'stranger-commonjs.cts']
  for (const name of files) copyFileSync(join(ROOT, 'test/package', name), join(appDir, name))
  const compilerOptions = { target: 'ES2023', module: 'NodeNext', strict: true, types: ['node'], skipLibCheck: true }
  writeFileSync(join(appDir, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }))
  run(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', appDir], appDir)
  for (const program of ['stranger.js', 'stranger-commonjs.cjs']) say(run(process.execPath, [program], appDir).trim())
}

/** The installed command does its work: the voice engine, its worker threads and its model came along. */
function regenerateOne(appDir: string): void {
  copyFileSync(join(ROOT, 'fixtures/interview.mp4'), join(appDir, 'interview.mp4'))
  const env = { ...process.env, VOXMUX_STATE_DIR: join(appDir, 'state') }
  const lines = run('npx', ['--no-install', 'voxmux', 'interview.mp4', '--json'], appDir, env).trim().split('\n')
  const result = JSON.parse(lines.at(-1) ?? '{}') as { exitCode?: number; output?: string }
  if (result.exitCode !== 0 || !existsSync(result.output ?? '')) throw new Error(`It did not work: ${lines.at(-1)}`)
  say(`npx voxmux interview.mp4: ${relative(appDir, result.output ?? '')}`)
}

function run(program: string, args: readonly string[], cwd: string, env = process.env): string {
  try {
    return execFileSync(program, args, { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
  } catch (error) {
    // tsc tells its errors on stdout.
    process.stderr.write(String((error as { stdout?: unknown }).stdout ?? ''))
    throw error
  }
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

interface PackedTarball {
  readonly filename: string
  readonly size: number
  readonly files: readonly { readonly path: string; readonly mode: number }[]
}

interface Manifest {
  readonly version: string
  readonly devDependencies: Readonly<Record<string, string>>
}
