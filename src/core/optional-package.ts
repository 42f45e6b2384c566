import { existsSync } from 'node:fs'
import { basename, dirname, join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type ErrorCode, UsageError } from './errors.js'
import { PACKAGE_FOLDER } from './package-folder.js'

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
  if (basename(around) !== 'node_modules') return `npm install ${name}`
  const project = dirname(around)
  if (existsSync(join(project, 'yarn.lock'))) return `yarn add ${name}`
  return existsSync(join(project, 'package.json')) ? `npm install ${name}` : `npm install --global ${name}`
}
