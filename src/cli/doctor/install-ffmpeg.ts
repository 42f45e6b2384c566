import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { delimiter } from 'node:path'
import { throwIfAborted } from '../../core/abort.js'
import { JobFailedError, UsageError } from '../../core/errors.js'
import { findProgram, PACKAGE_MANAGERS, programFolders } from './package-managers.js'

/** The environment variables that a package manager needs. It gets no others. */
const PASSED_ON = [
  'HOME',
  'http_proxy',
  'https_proxy',
  'no_proxy',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'SystemRoot',
  'LOCALAPPDATA',
  'APPDATA',
  'TEMP',
]

interface InstallOptions {
  readonly env: NodeJS.ProcessEnv
  readonly signal: AbortSignal
  /** Called with each command before it runs. */
  readonly announce: (command: string) => void
}

/**
 * Installs ffmpeg with the system's package manager. Its output goes to stderr.
 *
 * @throws UsageError `ERR_NO_PACKAGE_MANAGER`, `ERR_NEEDS_ROOT`; JobFailedError `ERR_INSTALL_FAILED`
 */
export async function installFfmpeg({ env, signal, announce }: InstallOptions): Promise<void> {
  for (const { command, isOptional } of installCommands(env)) {
    throwIfAborted(signal)
    announce(command.join(' '))
    const exitCode = await run(command, env, signal)
    if (exitCode === 0 || isOptional) continue
    throw new JobFailedError('ERR_INSTALL_FAILED', `\`${command.join(' ')}\` failed with exit code ${exitCode}.`, {
      remedies: ['Read its output above. Install ffmpeg yourself, or set VOXMUX_FFMPEG and VOXMUX_FFPROBE.'],
    })
  }
}

/** The commands that install ffmpeg here, with absolute paths, and with sudo if it is needed and installed. */
function installCommands(
  env: NodeJS.ProcessEnv,
): readonly { readonly command: readonly [string, ...string[]]; readonly isOptional: boolean }[] {
  const folders = programFolders(env.PATH)
  for (const { program, steps, needsRoot } of PACKAGE_MANAGERS) {
    const path = findProgram(program, folders)
    if (!path) continue
    const prefix = needsRoot ? rootPrefix(path, steps.at(-1)?.args ?? [], folders) : []
    return steps.map(({ args, isOptional = false }) => ({
      command: [...prefix, path, ...args] as unknown as readonly [string, ...string[]],
      isOptional,
    }))
  }
  throw new UsageError('ERR_NO_PACKAGE_MANAGER', 'voxmux found no package manager that it supports.', {
    remedies: ['Install ffmpeg 5.1 or newer yourself, or set VOXMUX_FFMPEG and VOXMUX_FFPROBE to its paths.'],
  })
}

function rootPrefix(path: string, args: readonly string[], folders: readonly string[]): readonly string[] {
  if (process.getuid?.() === 0) return []
  const sudo = findProgram('sudo', folders)
  // Without a terminal nobody can type a password, so sudo must fail instead of waiting.
  if (sudo) return process.stdin.isTTY ? [sudo] : [sudo, '-n']
  throw new UsageError('ERR_NEEDS_ROOT', 'Installing ffmpeg needs root, and sudo was not found.', {
    remedies: [`Run as root: ${[path, ...args].join(' ')}`],
  })
}

async function run(
  [program, ...args]: readonly [string, ...string[]],
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<number> {
  const passed = Object.fromEntries(PASSED_ON.flatMap((name) => (env[name] ? [[name, env[name]]] : [])))
  const child = spawn(program, args, {
    // stdout is for events.
    stdio: ['inherit', process.stderr, process.stderr],
    env: { ...passed, PATH: programFolders(env.PATH).join(delimiter), DEBIAN_FRONTEND: 'noninteractive' },
    signal,
  })
  const [code] = (await once(child, 'close')) as [number | null]
  return code ?? 1
}
