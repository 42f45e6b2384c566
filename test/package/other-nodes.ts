import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** As npm's packages of Node's own binaries are called for this machine. */
const PACKAGE = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`
const BINARY = process.platform === 'win32' ? 'bin/node.exe' : 'bin/node'

/**
 * Gets other versions of Node from npm, all at once. VOXMUX_CI_NODES may name a folder that `.ci/fetch-nodes` has filled.
 *
 * @param versions as npm takes them: `20.19.0`, or `24` for its newest
 * @param folder where they are laid
 * @returns the path of each, in their order; or why they are not to be had here
 */
export function installNodes(versions: readonly string[], folder: string): readonly string[] | string {
  const fetched = versions.map((version) =>
    join(process.env.VOXMUX_CI_NODES ?? '', version, 'node_modules', PACKAGE, BINARY),
  )
  if (process.env.VOXMUX_CI_NODES && fetched.every((path) => existsSync(path))) return fetched
  const alias = (version: string) => `node-${version}`
  const wanted = versions.map((version) => `${alias(version)}@npm:${PACKAGE}@${version}`)
  const args = ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error', '--prefix', folder, ...wanted]
  try {
    execFileSync('npm', args, { encoding: 'utf8', stdio: ['ignore', 'ignore', 'pipe'] })
  } catch (error) {
    return String((error as { stderr?: unknown }).stderr ?? error)
  }
  const paths = versions.map((version) => join(folder, 'node_modules', alias(version), BINARY))
  return paths.every((path) => existsSync(path)) ? paths : `${PACKAGE} has no ${BINARY}`
}

/** The oldest version that an `engines.node` of the form `>=20.19` lets in: `20.19.0`. */
export function oldestNode(range: string): string {
  const [, major, minor] = /^>=(\d+)\.(\d+)$/.exec(range) ?? []
  if (major === undefined || minor === undefined) throw new Error(`engines.node is "${range}", not ">=MAJOR.MINOR".`)
  return `${major}.${minor}.0`
}
