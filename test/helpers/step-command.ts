import { spawn } from 'node:child_process'
import { chmodSync, existsSync, writeFileSync } from 'node:fs'
import { toolVariables } from './loaded-tools/tool-variables.js'
import { CLI_PATH } from './voxmux-cli.js'

/** Why no script in Python can be run; null where it can. */
export const NO_PYTHON = existsSync('/usr/bin/python3') ? null : '/usr/bin/python3 is not installed'

/**
 * Puts a `voxmux` into a folder that starts the built command; returns its path. As npm installs it, it is run by a
 * program that is looked for in PATH and lies beside it.
 */
export function installVoxmux(folder: string): string {
  const [path, node] = [`${folder}/voxmux`, `${folder}/voxmux-node`]
  writeFileSync(path, '#!/usr/bin/env voxmux-node\n')
  writeFileSync(node, `#!/bin/sh\nshift\nexec '${process.execPath}' '${CLI_PATH}' "$@"\n`)
  for (const program of [path, node]) chmodSync(program, 0o755)
  return path
}

/** Runs a program of another host to its end, and returns what it printed. Rejects where it fails. */
export function runHost(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<string> {
  const child = spawn(program, args, {
    env: { PATH: '/usr/bin:/bin', ...toolVariables(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  for (const channel of [child.stdout, child.stderr]) channel.setEncoding('utf8').on('data', (text) => (said += text))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) =>
      code === 0 ? resolve(said) : reject(new Error(`${program} ended with ${code}:\n${said}`)),
    )
  })
}
