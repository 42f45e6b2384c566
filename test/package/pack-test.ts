/**
 * `npm run pack-test`: packs voxmux, looks at what is in the tarball, installs it in an empty folder outside the
 * repository, and uses it as a stranger would: the command, the types under NodeNext strict, the code; the last on the
 * oldest Node that voxmux lets in and on newer ones too.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installedSize, type SizedPackage } from './installed-size.js'
import { installNodes, oldestNode } from './other-nodes.js'
import { brokenLinks, checkContents } from './tarball-contents.js'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const MANIFEST = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Manifest
/** What `npm install --ignore-scripts voxmux` may bring. */
const [MOST_PACKAGES, MOST_MEGABYTES] = [75, 60]
/** The types that the strangers are compiled with. */
const NOT_OURS = ['@types/node', 'undici-types']
const tempDir = mkdtempSync(join(tmpdir(), 'voxmux-pack-'))
try {
  const tarballPath = pack()
  const appDir = install(tarballPath)
  measure(appDir)
  expectVersion(appDir)
  compile(appDir)
  runStranger(appDir, process.execPath)
  regenerateOne(appDir)
  runOnOtherNodes(appDir)
  checkBill(appDir)
  say('the packed voxmux installs, answers and compiles')
} finally {
  rmSync(tempDir, { recursive: true, force: true })
}

function pack(): string {
  const answer = run('npm', ['pack', '--json', '--loglevel=error', '--pack-destination', tempDir], ROOT)
  // What `prepare` prints comes before the JSON.
  const [tarball] = JSON.parse(answer.slice(answer.search(/^\[\s*\{/m))) as [PackedTarball]
  const paths = tarball.files.map(({ path }) => path)
  const problems = [...checkContents(paths), ...brokenLinks(paths, (path) => readFileSync(join(ROOT, path), 'utf8'))]
  if (problems.length > 0) throw new Error(`The tarball is wrong:\n${problems.join('\n')}`)
  const { mode } = tarball.files.find(({ path }) => path === 'dist/src/cli/main.js') ?? { mode: 0 }
  if ((mode & 0o111) === 0) throw new Error('dist/src/cli/main.js is not executable in the tarball.')
  say(`${tarball.filename}: ${tarball.files.length} files, ${Math.round(tarball.size / 1024)} KB packed`)
  return join(tempDir, tarball.filename)
}

/**
 * Only voxmux and what it needs: what voxmux wants of its users' machines is what it says in its own package.json.
 * `engine-strict`: nothing that it brings may want a newer Node than voxmux itself does. `ignore-scripts`: the ffmpeg of
 * the system is used, as NOTICE says, and the size is the same on every machine.
 */
function install(tarballPath: string): string {
  const appDir = join(tempDir, 'app')
  mkdirSync(appDir)
  writeFileSync(join(appDir, 'package.json'), JSON.stringify({ name: 'app', private: true, type: 'module' }))
  const types = `@types/node@${MANIFEST.devDependencies['@types/node'] ?? '20'}`
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error']
  run('npm', ['install', '--engine-strict', '--ignore-scripts', ...quiet, tarballPath, types], appDir)
  return appDir
}

/** Says what voxmux brings to a machine, as `du` counts it, and throws if that is too much. */
function measure(appDir: string): void {
  const { packages, bytes } = installedSize(join(appDir, 'node_modules'), NOT_OURS)
  const [count, megabytes] = [packages.length, Math.round(bytes / 1e6)]
  say(`installed: ${count} packages, ${megabytes} MB: ${packages.slice(0, 5).map(shown).join(', ')}, ...`)
  if (count > MOST_PACKAGES || megabytes > MOST_MEGABYTES)
    throw new Error(`That is more than ${MOST_PACKAGES} packages or ${MOST_MEGABYTES} MB.`)
}

function shown({ name, bytes }: SizedPackage): string {
  return `${name} ${(bytes / 1e6).toFixed(1)}`
}

function expectVersion(appDir: string): void {
  const printed = run('npx', ['--no-install', 'voxmux', '--version'], appDir).trim()
  if (printed !== MANIFEST.version)
    throw new Error(`npx voxmux --version printed "${printed}", not ${MANIFEST.version}.`)
  say(`npx voxmux --version: ${printed}`)
}

/** What the declarations of voxmux bring up is a fault; what those of others do is theirs. */
function compile(appDir: string): void {
  const files = ['stranger.ts', 'stranger-commonjs.cts']
  for (const name of files) copyFileSync(join(ROOT, 'test/package', name), join(appDir, name))
  for (const module of ['Node16', 'NodeNext']) {
    const compilerOptions = { target: 'ES2023', module, strict: true, types: ['node'] }
    writeFileSync(join(appDir, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }))
    const tsc = [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', appDir, '--pretty', 'false']
    const { stdout } = spawnSync(process.execPath, tsc, { cwd: appDir, encoding: 'utf8' })
    const faults = stdout.split('\n').filter((line) => /^(?!node_modules\/(?!voxmux\/)).*error TS/.test(line))
    if (faults.length > 0) throw new Error(`The types are wrong with module ${module}:\n${faults.join('\n')}`)
  }
}

/** The compiled strangers, and the command over what one of them did: each with a state folder of its own. */
function runStranger(appDir: string, node: string): void {
  const version = run(node, ['--version'], appDir).trim()
  const env = { ...process.env, VOXMUX_STATE_DIR: join(appDir, `state-${version}`) }
  copyFileSync(join(ROOT, 'fixtures/speech.wav'), join(appDir, 'speech.wav'))
  for (const program of ['stranger.js', 'stranger-commonjs.cjs']) {
    say(`Node ${version}: ${run(node, [program], appDir, env).trim()}`)
  }
  const command = ['node_modules/voxmux/dist/src/cli/main.js', 'speech.wav', '-o', `${version}/`, '--json']
  const result = resultOf(run(node, command, appDir, env))
  if (result.status !== 'skipped') throw new Error(`Node ${version}: the command says ${JSON.stringify(result)}`)
}

/** The installed command does its work: the voice engine, its worker threads and its model came along. */
function regenerateOne(appDir: string): void {
  copyFileSync(join(ROOT, 'fixtures/phone.mp4'), join(appDir, 'phone.mp4'))
  const env = { ...process.env, VOXMUX_STATE_DIR: join(appDir, 'state') }
  const result = resultOf(run('npx', ['--no-install', 'voxmux', 'phone.mp4', '--json'], appDir, env))
  const { exitCode, output } = result
  if (exitCode !== 0 || !existsSync(output ?? '')) throw new Error(`It did not work: ${JSON.stringify(result)}`)
  say(`npx voxmux phone.mp4: ${relative(appDir, output ?? '')}`)
}

/** Native addons, worker threads and `require` of ES modules are where versions of Node differ. */
function runOnOtherNodes(appDir: string): void {
  const nodes = installNodes([oldestNode(MANIFEST.engines.node), '22', '24'], join(tempDir, 'nodes'))
  if (typeof nodes === 'string') {
    say(`other versions of Node are not to be had here: ${nodes}`)
    return
  }
  for (const node of nodes) runStranger(appDir, node)
}

/** Names what is installed and, in `dist`, part of voxmux. */
function checkBill(appDir: string): void {
  const { components } = JSON.parse(run('npm', ['run', '--silent', 'sbom'], ROOT)) as {
    readonly components: readonly { readonly name: string }[]
  }
  const names = components.map(({ name }) => name)
  const { packages } = installedSize(join(appDir, 'node_modules'), [...NOT_OURS, 'voxmux'])
  const unnamed = [...packages.map(({ name }) => name), 'fastify', 'jose'].filter((name) => !names.includes(name))
  if (unnamed.length > 0 || names.includes('vitest'))
    throw new Error(`The bill of materials is wrong. It lacks: ${unnamed.join(', ') || 'nothing'}.`)
  say(`the bill of materials names ${names.length} packages`)
}

function resultOf(events: string): StepResult {
  return JSON.parse(events.trim().split('\n').at(-1) ?? '{}') as StepResult
}

function run(program: string, args: readonly string[], cwd: string, env = process.env): string {
  return execFileSync(program, args, { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

interface PackedTarball {
  readonly filename: string
  readonly size: number
  readonly files: readonly { readonly path: string; readonly mode: number }[]
}

interface StepResult {
  readonly exitCode?: number
  readonly status?: string
  readonly output?: string
}

interface Manifest {
  readonly version: string
  readonly engines: { readonly node: string }
  readonly devDependencies: Readonly<Record<string, string>>
}
