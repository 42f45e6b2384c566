import { existsSync } from 'node:fs'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type ErrorCode, UsageError } from './errors.js'
import { PACKAGE_FOLDER } from './package-folder.js'
import { shellWord } from './shell-word.js'

/**
 * Makes a handler for the failed import of an optional package. It rethrows any other fault.
 *
 * @param needs first part of the message, such as `Azure Blob Storage needs`
 * @param name name and version, such as `pg@8`
 * @param remedies more to do besides the installation
 */
export function packageMissing(
  code: ErrorCode,
  needs: string,
  name: string,
  remedies: readonly string[] = [],
): (cause: unknown) => never {
  return (cause) => {
    const fault = (cause as NodeJS.ErrnoException).code
    if (fault !== 'ERR_MODULE_NOT_FOUND' && fault !== 'MODULE_NOT_FOUND') throw cause
    const message = `${needs} the package ${name.replace(/(?<=.)@.*/, '')}, which is not installed.`
    throw new UsageError(code, message, { cause, remedies: [installCommand(name), ...remedies] })
  }
}

/**
 * The command that installs a package so that this voxmux finds it. That depends on how voxmux itself was installed: Node
 * searches the folder that holds the package voxmux, and the folders above.
 */
export function installCommand(name: string, packageFolder = fileURLToPath(PACKAGE_FOLDER)): string {
  const parts = packageFolder.split(sep)
  if (parts.includes('_npx')) return `npx --package voxmux --package ${name} voxmux`
  if (parts.includes('.pnpm')) return `pnpm add ${parts.includes('global') ? '--global ' : ''}${name}`
  const around = dirname(packageFolder)
  const isInstalled = basename(around) === 'node_modules'
  const project = isInstalled ? dirname(around) : resolve(packageFolder)
  const place = shellWord(project)
  if (existsSync(join(project, 'yarn.lock'))) return `yarn --cwd ${place} add ${name}`
  if (isInstalled && !existsSync(join(project, 'package.json'))) return `npm install --global ${name}`
  return `npm install --prefix ${place} ${name}`
}
